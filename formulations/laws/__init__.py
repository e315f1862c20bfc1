"""Contact laws: what one contact may do, in its own frame (plugins of the group mcpframe.contact_laws)."""
