/** Deliveries in an alias's spelling, as the published receivers see them: the one for Node, and the one for Python. */
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

  /** Looking for the one in Python takes up to two minutes; where there is none, it is left out and said. */
  static async found(keys: SigningKeys): Promise<PublishedReceivers> {
    const node = new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next });
    return new PublishedReceivers(node, await PythonReceiver.found(keys));
  }

  /** @throws unless both take the calls, and nothing in their headers is in the neutral spelling */
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

  /** @throws unless both take the calls */
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
