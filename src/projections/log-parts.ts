/**
 * Parts that rows of the message log and of the run log refer to: envelopes (read once per page), bodies, responses.
 */
import type { Envelope, HeaderList } from '../domain/queue/index.js';
import { assert } from '../kernel/index.js';
import type { SqlFile } from '../ports/index.js';
import { decodeEnvelope } from './log-rows/envelope-bytes.js';
import { type Prepared, prepared } from './statements.js';

export interface ResponseView {
  readonly status: number;
  readonly header: HeaderList;
  readonly body: Uint8Array;
  readonly isCut?: true;
  readonly durationMs?: number | undefined;
}

const EMPTY = new Uint8Array(0);

export class LogParts {
  readonly #envelopes = new Map<number, Envelope>();

  private constructor(private readonly sql: Prepared<typeof STATEMENTS>) {}

  static of(file: SqlFile): LogParts {
    return new LogParts(prepared(file, STATEMENTS));
  }

  /** A fresh cache for another page, because ids may have been reused. */
  anew(): LogParts {
    return new LogParts(this.sql);
  }

  envelope(id: number): Envelope {
    let envelope = this.#envelopes.get(id);
    if (envelope === undefined) {
      const row = this.sql.envelope.get([id]);
      assert(row !== undefined, 'a row without its envelope', { id });
      envelope = decodeEnvelope(row.bytes as Uint8Array);
      this.#envelopes.set(id, envelope);
    }
    return envelope;
  }

  /** Empty also for a body that was removed before this file began. */
  body(id: number): Uint8Array {
    if (id === 0) return EMPTY;
    return (this.sql.body.get([id])?.content as Uint8Array | undefined) ?? EMPTY;
  }

  response(id: number): ResponseView | undefined {
    const row = this.sql.response.get([id]);
    return (
      row && {
        status: row.status as number,
        header: JSON.parse(row.header as string) as HeaderList,
        body: row.body as Uint8Array,
        ...(row.is_cut === 1 && { isCut: true as const }),
        durationMs: row.duration_ms as number,
      }
    );
  }
}

const STATEMENTS = {
  envelope: 'SELECT bytes FROM envelopes WHERE id = ?',
  body: 'SELECT content FROM bodies WHERE id = ?',
  response: 'SELECT status, header, body, is_cut, duration_ms FROM responses WHERE id = ?',
} as const;
