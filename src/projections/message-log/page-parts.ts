/** The parts that rows of a page of the log or of the DLQ list refer to. */
import { type Envelope, type HeaderList, type HiddenParts, isBodyless, trimmedBody } from '../../domain/queue/index.js';
import { assert, type DlqId, type MessageId } from '../../kernel/index.js';
import {
  type DlqRow,
  type LogEvent,
  MESSAGE_STATES,
  type MessageState,
  type SqlRow,
  type SqlStatement,
} from '../../ports/index.js';
import type { LogParts } from '../log-parts.js';
import { textOf } from '../log-rows/log-places.js';
import { STATE_NUMBERS } from '../log-rows/schema.js';

/** Limit for bodies and responses of one page, which is sent between threads and processes as a whole. */
export const MAX_LOG_PAGE_BYTES = 16 * 1024 * 1024;

interface BodyView {
  readonly body: Uint8Array;
  /** Only part of the body was requested; never set if the body was not requested at all. */
  readonly isCut?: true;
}

const NO_BODY: BodyView = { body: new Uint8Array() };
export const STATES_BY_NUMBER: ReadonlyMap<number, MessageState> = new Map<number, MessageState>(
  MESSAGE_STATES.map((state) => [STATE_NUMBERS[state], state]),
);

export const READ_MESSAGE = 'SELECT name, envelope, body, created_ms, not_before_ms FROM messages WHERE id = ?';

interface MessageParts {
  readonly messageId: MessageId;
  readonly envelope: Envelope;
  readonly body: Uint8Array;
  readonly isBodyCut?: true;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
}

/** Reads each part of a page once. A row may have been pruned between two steps; its parts are then undefined. */
export class PageParts {
  bytes = 0;
  readonly #messages = new Map<number, MessageParts>();

  /**
   * @param readMessage `READ_MESSAGE`
   * @param trimBytes limit for each body; 0 or less: no body is read; undefined: no limit
   * @param withAnswers whether answers to successful attempts are read
   */
  constructor(
    private readonly shown: LogParts,
    private readonly readMessage: SqlStatement,
    private readonly trimBytes: number | undefined,
    private readonly withAnswers = false,
  ) {}

  /** @param isBodyCounted whether the body is sent with this event */
  event(row: SqlRow, isBodyCounted = true): LogEvent | undefined {
    const message = this.#message(row.message as number);
    if (message === undefined) return undefined;
    const { messageId, envelope, body, isBodyCut } = message;
    const state = STATES_BY_NUMBER.get(row.state as number);
    assert(state !== undefined, 'a state without a name', { state: row.state });
    const isRead = row.response !== null && (this.withAnswers || state !== 'DELIVERED');
    const response = isRead ? this.#response(row.response as number, envelope.settings.redact?.response) : undefined;
    this.bytes += (isBodyCounted ? body.length : 0) + (response?.body.length ?? 0);
    return {
      atMs: row.at_ms as number,
      state,
      messageId,
      envelope,
      body,
      ...(isBodyCut && { isBodyCut }),
      nextDeliveryAtMs: row.next_ms === null ? undefined : (row.next_ms as number),
      error: row.error === null ? undefined : (row.error as string),
      response,
    };
  }

  entry(row: SqlRow): DlqRow | undefined {
    const message = this.#message(row.message as number);
    if (message === undefined) return undefined;
    const { body, isCut } = this.#body(row.response as number, message.envelope.settings.redact?.response);
    const header = JSON.parse(row.header as string) as HeaderList;
    this.bytes += message.body.length + body.length;
    return {
      dlqId: textOf({ atMs: row.at_ms as number, n: row.n as number }) as DlqId,
      ...message,
      failedAtMs: row.failed_ms as number,
      retried: row.retried as number,
      response: {
        status: row.status as number,
        header,
        body,
        ...(isCut && { isCut }),
        error: row.error as string,
      },
    };
  }

  #message(id: number): MessageParts | undefined {
    const known = this.#messages.get(id);
    if (known !== undefined) return known;
    const row = this.readMessage.get([id]);
    if (row === undefined) return undefined;
    const envelope = this.shown.envelope(row.envelope as number);
    const { body, isCut } = this.#body(row.body as number, envelope.settings.redact);
    const parts = {
      messageId: row.name as MessageId,
      envelope,
      body,
      ...(isCut && { isBodyCut: isCut }),
      createdAtMs: row.created_ms as number,
      notBeforeMs: row.not_before_ms as number,
    };
    this.#messages.set(id, parts);
    return parts;
  }

  #body(id: number, redaction: HiddenParts | undefined): BodyView {
    return isBodyless(this.trimBytes) ? NO_BODY : this.#trimmed(this.shown.body(id), redaction);
  }

  #response(id: number, redaction: HiddenParts | undefined): LogEvent['response'] {
    const response = this.shown.response(id);
    return response && { ...response, ...this.#trimmed(response.body, redaction) };
  }

  #trimmed(whole: Uint8Array, redaction: HiddenParts | undefined): BodyView {
    const body = trimmedBody(whole, redaction, this.trimBytes);
    return body.length > 0 && body.length < whole.length ? { body, isCut: true } : { body };
  }
}
