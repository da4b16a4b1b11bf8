/** Attacks on the queue: floods of messages to the most expensive kinds of destinations. */
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { RawDestination } from '../raw-destination.js';
import { SickDestination } from '../sick-destination.js';
import type { Attack } from './attack.js';
import type { Attacker } from './attacker.js';

const BATCH = 100;
const BODY = 'x'.repeat(20_000);

interface Message {
  readonly destination: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends batches until this number is sent or one is refused. */
async function flood(attacker: Attacker, batches: number, message: (at: number) => Message): Promise<void> {
  for (let batch = 0; batch < batches; batch += 1) {
    const messages = Array.from({ length: BATCH }, (_, at) => ({ ...message(batch * BATCH + at), body: BODY }));
    const { status, text } = await attacker.queue('POST', '/v2/batch', JSON.stringify(messages));
    expect(status, text).to.be.oneOf([200, 429, 503]);
    if (status !== 200) return;
  }
}

/**
 * Deletes messages and dead letters until none is left, including messages that were in flight: dead letters and
 * callbacks contain bodies.
 */
const cancelAll = (attacker: Attacker) =>
  eventually(async () => {
    const messages = await attacker.queue('DELETE', '/v2/messages');
    const letters = await attacker.queue('DELETE', '/v2/dlq');
    expect([JSON.parse(messages.text), JSON.parse(letters.text)]).to.deep.equal([{ cancelled: 0 }, { deleted: 0 }]);
  });

export const SILENT_HOST: Attack = {
  title: 'many messages to a host that never responds',
  run: async (attacker) => {
    const silent = attacker.closeAtEnd(await RawDestination.listening(() => undefined));
    await flood(attacker, 40, () => ({ destination: silent.url() }));
    await eventually(() => expect(silent.openSockets).to.be.above(0));
  },
  undo: cancelAll,
};

/** The stand's name server never answers, and each attempt resolves the name again. */
export const DEAD_NAMES: Attack = {
  title: 'many messages to 2,000 host names while the name server is silent',
  run: async (attacker) => {
    await flood(attacker, 20, (at) => ({ destination: `http://dead-${at}.example/` }));
  },
  undo: cancelAll,
};

/** The messages have callbacks, because a response without a callback is read up to 64 KiB only. */
export const ENDLESS_ANSWERS: Attack = {
  title: 'many messages to hosts with endless responses',
  run: async (attacker) => {
    const sicknesses = ['floods its body', 'floods headers', 'floods interim responses'] as const;
    const endless = await Promise.all(sicknesses.map((sickness) => SickDestination.that(sickness)));
    for (const destination of endless) attacker.closeAtEnd(destination);
    await flood(attacker, 10, (at) => ({
      destination: endless[at % endless.length]?.url as string,
      headers: { 'Svc-Callback': endless[0]?.url as string, 'Svc-Retries': '1' },
    }));
    await eventually(() => {
      for (const { requests } of endless) expect(requests).to.be.above(10);
    });
  },
  undo: cancelAll,
};

export const ON_THE_QUEUE: readonly Attack[] = [SILENT_HOST, DEAD_NAMES, ENDLESS_ANSWERS];
