"""The report: one page that opens offline, without scripts; and JUnit XML for continuous integration."""
