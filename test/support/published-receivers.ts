/** Verifies deliveries with the alias's header names by the published receivers for Node.js and Python. */
import { Receiver } from '@upstash/qstash';
import { expect } from 'chai';
import { PythonReceiver } from './python-receiver.js';
import type { SinkCall } from './queue-sink.js';

interface SigningKeys {
  readonly current: string;
  readonly next: string;
}

type Call = Pick<SinkCall, 'target' | 'headers' | 'body'>;

const SENDER = /^Upstash-Q[Ss]tash$/;

export class PublishedReceivers {
  private constructor(
    private readonly node: Receiver,
    private readonly python: PythonReceiver | undefined,
  ) {}

  /**
   * The search for the Python receiver takes up to two minutes; if there is none, a line is printed and it is left
   * out.
   */
  static async found(keys: SigningKeys): Promise<PublishedReceivers> {
    const node = new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next });
    return new PublishedReceivers(node, await PythonReceiver.found(keys));
  }

  /** @throws unless both accept the calls and no header has its neutral name */
  async expectAliased(calls: readonly Call[]): Promise<void> {
    for (const { target, headers } of calls) {
      expect(
        Object.keys(headers).filter((name) => name.startsWith('svc-')),
        target,
      ).to.deep.equal([]);
      expect(headers['user-agent'], target).to.match(SENDER);
      expect(headers, target).to.include.keys('upstash-message-id', 'upstash-retried', 'upstash-caller-ip');
    }
    await this.expectVerified(calls);
  }

  /** @throws unless both accept the calls */
  async expectVerified(calls: readonly Call[]): Promise<void> {
    const cases = calls.map(({ target, headers, body }, at) => {
      const token = String(headers['upstash-signature']);
      return { name: `${at} ${target}`, token, body, url: `http://${headers.host}${target}` };
    });
    for (const { name, token: signature, body, url } of cases) {
      expect(await this.node.verify({ signature, body, url }), name).to.equal(true);
    }
    if (this.python === undefined) return;
    expect(await this.python.verdicts(cases)).to.deep.equal(cases.map(({ name }) => `${name}: ok`));
  }
}
