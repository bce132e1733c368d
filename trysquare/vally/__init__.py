"""Files of Vally: grading its custom-metrics blocks offline, and importing its trial results as measures."""
