/** The same documents in SQLite's FTS5 alone, in memory, for comparison with the `SEARCH` commands. */
import sqlite from 'node-sqlite3-wasm';

export class SqliteTexts {
  readonly #database = new sqlite.Database(':memory:');

  constructor(documents: readonly { readonly text: string }[]) {
    const database = this.#database;
    database.run('CREATE VIRTUAL TABLE documents USING fts5(text, tokenize = "porter")');
    database.run('BEGIN');
    const insert = database.prepare('INSERT INTO documents(text) VALUES (?)');
    for (const { text } of documents) insert.run([text]);
    insert.finalize();
    database.run('COMMIT');
  }

  /** The ten best documents with both words. */
  both(words: string): unknown {
    return this.#database.all('SELECT rowid, text FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT 10', [
      words,
    ]);
  }

  close(): void {
    this.#database.close();
  }
}
