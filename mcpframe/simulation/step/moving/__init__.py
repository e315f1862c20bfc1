"""Where rates lead: drift and flight, loops closed again, how often to look on the way."""
