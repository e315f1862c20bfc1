"""Contacts between bodies, what laws say about them, and the step that a formulation turns into a problem."""

from mcpframe.contact.contact import Contact, ContactSet
from mcpframe.contact.law import LawRows, cone_rows, friction_rows
from mcpframe.contact.outcome import Outcome
from mcpframe.contact.step import ContactStep

__all__ = ["Contact", "ContactSet", "ContactStep", "LawRows", "Outcome", "cone_rows", "friction_rows"]
