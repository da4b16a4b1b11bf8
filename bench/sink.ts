/** The destination of a queue bench, as the bench asks it. */
import { once } from 'node:events';
import { Child, until } from './child.js';
import type { SinkMode, SinkQuestion, SinkReport } from './queue-sink.js';

const PROGRAM = new URL('./queue-sink.js', import.meta.url).pathname;

export class Sink {
  private constructor(private readonly child: Child) {}

  static async start(): Promise<Sink> {
    return new Sink(await Child.start(process.execPath, [PROGRAM], { readyWhen: /^ready (\S+)/, withChannel: true }));
  }

  get url(): string {
    return this.child.ready?.[1] as string;
  }

  begin(mode: SinkMode): Promise<SinkReport> {
    return this.#ask({ ask: 'begin', mode });
  }

  hold(): Promise<SinkReport> {
    return this.#ask({ ask: 'hold' });
  }

  release(): Promise<SinkReport> {
    return this.#ask({ ask: 'release' });
  }

  report(): Promise<SinkReport> {
    return this.#ask({ ask: 'report' });
  }

  /** Waits until so many have arrived since `begin`. @throws after `timeoutMs` */
  async received(count: number, timeoutMs: number): Promise<SinkReport> {
    let report = await this.report();
    const isThere = async () => {
      report = await this.report();
      return report.count >= count;
    };
    await until(isThere, timeoutMs, `the arrival of ${count} messages`).catch((error: Error) => {
      throw new Error(`${error.message}; ${report.count} arrived`);
    });
    return report;
  }

  stop(): Promise<void> {
    return this.child.stop();
  }

  async #ask(question: SinkQuestion): Promise<SinkReport> {
    const { process: own } = this.child;
    own.send(question);
    const [answer] = await once(own, 'message');
    return answer as SinkReport;
  }
}

/** Messages a second between the first and the last. */
export function rateOf({ count, firstMs, lastMs }: SinkReport): number {
  return ((count - 1) * 1000) / (lastMs - firstMs);
}
