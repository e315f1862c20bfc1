"""Problems: mixed LCPs, MCPs, exact friction cones; facts about them, and how well a point solves them."""
