"""The journal: received requests on disk, acknowledged once they are there, read by named cursors.

    DIRECTORY/
      lock                          held by the one writer
      mark                          how far readers may read (`mark.py` holds the reasoning)
      00000000000000000001.segment  records, append-only (`segment.py`, `record.py`)
      cursors/NAME                  how far each reader is (`cursor.py`)
      corrupt/                      what was cut or moved out of the way (`aside.py`), bounded in bytes

`writer.py` is the event loop's side of appending, `segment_log.py` the writer thread's; `reader.py` reads, from any
process. `protocol.py` is all that other packages need to know.
"""
