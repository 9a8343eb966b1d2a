"""The file formats that can be imported, one module each.

Each module is plain Python without a database, and has two functions:

- `recognises(head: Head) -> bool`: whether a file has this format, by its beginning.
- `read(file: SourceFile) -> TripDescription`: what the file says. `file.items("expenses.item")`
  reads JSON one value after the other, `file.records()` CSV. `read_entries` of the description
  reads the file again each time it is called, so that a large file is never in memory as a whole.

Both raise `UnreadableFile` with the line.
"""
