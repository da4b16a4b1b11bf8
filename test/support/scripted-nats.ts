/** A client's connection to NATS as `NatsLink` uses it, in memory: what is sent is noted, and a test answers by hand. */
import { type MsgHdrs, type NatsConnection, headers as newHeaders } from 'nats';
import { NatsLink } from '../../src/adapters/nats/link.js';

export interface Sent {
  readonly subject: string;
  readonly text: string;
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
  /** May be called any number of times, as late as one likes. */
  answer(value: object | string, code?: number): void;
}

type Callback = (error: Error | null, message: unknown) => void;

export class ScriptedNats {
  readonly sent: Sent[] = [];
  /** Called with each thing that is sent. */
  onSent: (sent: Sent) => void = () => {};
  readonly link: NatsLink;
  #callback: Callback = () => {};
  #tellStatus: (type: string) => void = () => {};
  readonly #statuses: string[] = [];

  constructor() {
    const raw = {
      info: { version: '2.15.0' },
      publish: (subject: string, payload: Uint8Array | string, options: { reply: string; headers?: MsgHdrs }) =>
        this.#publish(subject, payload, options),
      subscribe: (_subject: string, { callback }: { callback: Callback }) => {
        this.#callback = callback;
        return { unsubscribe: () => {} };
      },
      status: () => this.#status(),
    };
    this.link = new NatsLink(raw as unknown as NatsConnection, 'scripted');
  }

  /** What was sent to a subject of that form. */
  to(form: RegExp): Sent[] {
    return this.sent.filter(({ subject }) => form.test(subject));
  }

  async status(type: 'disconnect' | 'reconnect'): Promise<void> {
    this.#statuses.push(type);
    this.#tellStatus(type);
    await new Promise((resolve) => setImmediate(resolve));
  }

  #publish(
    subject: string,
    payload: Uint8Array | string,
    { reply, headers }: { reply: string; headers?: MsgHdrs },
  ): void {
    const text = typeof payload === 'string' ? payload : Buffer.from(payload).toString('latin1');
    const named = Object.fromEntries((headers?.keys() ?? []).map((name) => [name, headers?.get(name) ?? '']));
    const sent: Sent = {
      subject,
      text,
      bytes: payload.length,
      headers: named,
      answer: (value, code) => {
        const said = typeof value === 'string' ? value : JSON.stringify(value);
        const answered = code === undefined ? undefined : newHeaders(code, 'said by the server');
        this.#callback(null, { subject: reply, data: Buffer.from(said), string: () => said, headers: answered });
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
