/** An in-memory NATS connection for `NatsLink`: it records sent messages, and the test answers them. */
import { errors, type MsgHdrs, type NatsConnection, headers as newHeaders, type RequestOptions } from 'nats';
import { NatsLink } from '../../src/adapters/nats/link.js';

export interface Sent {
  readonly subject: string;
  readonly text: string;
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Answers the message. It may be called several times and at any time. */
  answer(value: object | string, code?: number): void;
}

const ALIVE_WITHIN_MS = 20;

type Callback = (error: Error | null, message: unknown) => void;

export class ScriptedNats {
  readonly sent: Sent[] = [];
  /** Called with each sent message. */
  onSent: (sent: Sent) => void = () => {};
  readonly link: NatsLink;
  /** The promise that answers pings; resolved by default. */
  answersPings: Promise<void> = Promise.resolve();
  /** The number of times that the connection was replaced. */
  reconnects = 0;
  #callback: Callback = () => {};
  #tellStatus: (type: string) => void = () => {};
  readonly #statuses: string[] = [];

  constructor() {
    const raw = {
      info: { version: '2.15.0' },
      options: {},
      isClosed: () => false,
      isDraining: () => false,
      flush: () => this.answersPings,
      reconnect: async () => {
        this.reconnects += 1;
      },
      publish: (subject: string, payload: Uint8Array | string, options: { reply: string; headers?: MsgHdrs }) =>
        this.#note(subject, payload, options.headers, (answer) =>
          this.#callback(null, { subject: options.reply, ...answer }),
        ),
      request: (subject: string, payload: Uint8Array | string, { timeout, headers }: RequestOptions) =>
        this.#request(subject, payload, timeout, headers),
      subscribe: (_subject: string, { callback }: { callback: Callback }) => {
        this.#callback = callback;
        return { unsubscribe: () => {} };
      },
      status: () => this.#status(),
    };
    this.link = new NatsLink(raw as unknown as NatsConnection, 'scripted', 'process', ALIVE_WITHIN_MS);
  }

  /** The messages sent to matching subjects. */
  to(form: RegExp): Sent[] {
    return this.sent.filter(({ subject }) => form.test(subject));
  }

  async status(type: 'disconnect' | 'reconnect' | 'ldm'): Promise<void> {
    this.#statuses.push(type);
    this.#tellStatus(type);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Behaves as the client's `request`, with its errors. */
  #request(subject: string, payload: Uint8Array | string, timeoutMs: number, headers: MsgHdrs | undefined) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new errors.TimeoutError()), timeoutMs);
      this.#note(subject, payload, headers, (answer) => {
        clearTimeout(timer);
        const cause = answer.headers?.code === 503 ? new errors.NoRespondersError(subject) : undefined;
        if (cause === undefined) resolve(answer);
        else reject(new errors.RequestError(cause.message, { cause }));
      });
    });
  }

  #note(
    subject: string,
    payload: Uint8Array | string,
    given: MsgHdrs | undefined,
    receive: (answer: { data: Uint8Array; string: () => string; headers: MsgHdrs | undefined }) => void,
  ): void {
    const text = typeof payload === 'string' ? payload : Buffer.from(payload).toString('latin1');
    const headers = Object.fromEntries([...(given ?? [])].map(([name, values]) => [name, values[0] ?? '']));
    const sent: Sent = {
      subject,
      text,
      bytes: text.length,
      headers,
      answer: (value, code) => {
        const said = typeof value === 'string' ? value : JSON.stringify(value);
        const answered = code === undefined ? undefined : newHeaders(code, 'said by the server');
        receive({ data: Buffer.from(said), string: () => said, headers: answered });
      },
    };
    this.sent.push(sent);
    this.onSent(sent);
  }

  async *#status(): AsyncGenerator<{ type: string }> {
    for (;;) {
      while (this.#statuses.length > 0) yield { type: this.#statuses.shift() as string };
      await new Promise<void>((resolve) => {
        this.#tellStatus = () => resolve();
      });
    }
  }
}
