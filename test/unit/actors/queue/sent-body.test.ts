/** Proves SB1–SB3. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import {
  type BodyPlan,
  hashed,
  keptContents,
  loadedContents,
  MAX_SENT_LIST_BYTES,
  planOf,
  putTogether,
} from '../../../../src/actors/queue/sent-body.js';
import { CALL_PART, failurePart, partAttempt, RESULT_PART, Shelf, stepAttempt } from '../../../support/run-attempts.js';

const ANY_LENGTH = Number.MAX_SAFE_INTEGER;
const MIB = 1024 * 1024;

interface Made {
  readonly text: string;
  readonly pauses: number;
}

function made(plan: BodyPlan, contents: readonly Uint8Array[]): Made {
  const steps = putTogether(plan, contents);
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses += 1;
  return { text: Buffer.from(step.value).toString(), pauses };
}

function bodyOf(shelf: Shelf, attempt: Parameters<typeof planOf>[0]): Made {
  const plan = planOf(attempt, ANY_LENGTH);
  return made(plan, keptContents(plan.refs, shelf) as readonly Uint8Array[]);
}

function base64(text: string | Uint8Array): string {
  return Buffer.from(text).toString('base64');
}

describe('the entry list that a step is delivered with', () => {
  it('begins with the payload and ends with the delivered entry', () => {
    const shelf = new Shelf('payload', '{"stepId":1}', '{"stepId":2}');
    expect(JSON.parse(bodyOf(shelf, stepAttempt(shelf, [1, 2, 3])).text)).to.deep.equal([
      { messageId: 'msg_0', body: base64('payload'), callType: 'step' },
      { messageId: 'msg_1', body: base64('{"stepId":1}'), callType: 'step' },
      { messageId: 'msg_2', body: base64('{"stepId":2}'), callType: 'step' },
    ]);
  });

  it('has an empty payload as an empty text', () => {
    const shelf = new Shelf();
    expect(bodyOf(shelf, stepAttempt(shelf, [0])).text).to.equal('[{"messageId":"msg_0","body":"","callType":"step"}]');
  });

  it('contains the bytes of bodies unchanged, for every byte value', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    const shelf = new Shelf(bytes, bytes.subarray(1), bytes.subarray(2));
    const list = JSON.parse(bodyOf(shelf, stepAttempt(shelf, [1, 2, 3])).text) as { body: string }[];
    expect(list.map(({ body }) => Buffer.from(body, 'base64').toString('hex'))).to.deep.equal(
      shelf.contents.map((content) => Buffer.from(content).toString('hex')),
    );
  });

  it('is as long as planned, for entries of every length', () => {
    const lengths = [0, 1, 2, 3, 4, 5, 100, 1000];
    const shelf = new Shelf(...lengths.map((length) => 'x'.repeat(length)));
    for (let count = 1; count <= lengths.length; count += 1) {
      const attempt = stepAttempt(
        shelf,
        Array.from({ length: count }, (_, at) => at + 1),
      );
      expect(bodyOf(shelf, attempt).text.length).to.equal(planOf(attempt, ANY_LENGTH).bytes);
    }
  });

  it('is put together in slices when it is long: few large entries, or many small ones', () => {
    const large = Buffer.alloc(5 * MIB + 1, 'abc');
    const some = new Shelf('payload', large, 'end');
    const whole = bodyOf(some, stepAttempt(some, [1, 2, 3]));
    expect(whole.pauses).to.be.within(10, 20);
    const [first, second, third] = JSON.parse(whole.text) as { body: string }[];
    expect([first?.body, third?.body]).to.deep.equal([base64('payload'), base64('end')]);
    expect(second?.body === base64(large)).to.equal(true);

    const many = new Shelf(...Array.from({ length: 3000 }, (_, at) => `entry ${at}`));
    const ofMany = bodyOf(
      many,
      stepAttempt(
        many,
        Array.from({ length: 3000 }, (_, at) => at + 1),
      ),
    );
    expect(ofMany.pauses).to.be.within(3, 6);
    expect(JSON.parse(ofMany.text)).to.have.length(3000);
  });

  it('is left out when it is longer than the bound, where the endpoint can fetch it', () => {
    const shelf = new Shelf('payload', 'record');
    const { bytes } = planOf(stepAttempt(shelf, [1, 2]), ANY_LENGTH);
    expect(planOf(stepAttempt(shelf, [1, 2]), bytes).kind).to.equal('list');
    const shorter = planOf(stepAttempt(shelf, [1, 2]), bytes - 1);
    expect(shorter).to.deep.equal({ kind: 'list-left-out', refs: [], entries: [], bytes: 0 });
    expect(made(shorter, []).text).to.equal('');
    expect(planOf(stepAttempt(shelf, [1, 2], { canFetch: false }), bytes - 1).kind).to.equal('list');
  });

  it('is not sent at all when it would take the memory of others', () => {
    const shelf = new Shelf(Buffer.alloc(MIB));
    const numbers = Array.from({ length: MAX_SENT_LIST_BYTES / MIB }, () => 1);
    expect(planOf(stepAttempt(shelf, numbers, { canFetch: false }), MIB).kind).to.equal('too-long');
    expect(planOf(stepAttempt(shelf, numbers), MIB).kind).to.equal('list-left-out');
  });
});

describe('the body of the message to a failure function', () => {
  const before = '{"status":500,"body":"eyJ4IjoxfQ==","sourceBody":"';
  const after = '","workflowRunId":"wfr_1","error":"said \\"sourceBody\\":\\"\\""}';

  function told(...shelved: string[]): string {
    const shelf = new Shelf(...shelved);
    return bodyOf(shelf, partAttempt(shelf, failurePart(shelf.ref(shelved.length > 1 ? 2 : 0)))).text;
  }

  it('includes the payload of the run', () => {
    expect(told(`${before}${after}`, 'the payload')).to.equal(`${before}${base64('the payload')}${after}`);
  });

  it('is sent as stored when the payload is empty', () => {
    expect(told(`${before}${after}`)).to.equal(`${before}${after}`);
  });

  it('has the payload after the answer of the endpoint', () => {
    const header = '{"header":{"sourceBody":""},"sourceBody":""}';
    expect(JSON.parse(told(header, 'p'))).to.deep.equal({ header: { sourceBody: '' }, sourceBody: base64('p') });
  });

  it('is put together in slices when the payload is long', () => {
    const shelf = new Shelf(`${before}${after}`, Buffer.alloc(5 * MIB, 'payload'));
    const whole = bodyOf(shelf, partAttempt(shelf, failurePart(shelf.ref(2))));
    expect(whole.pauses).to.be.greaterThan(5);
    expect(Buffer.from(JSON.parse(whole.text).sourceBody, 'base64')).to.have.length(5 * MIB);
  });
});

describe('the body of other messages of a run', () => {
  it('is sent as stored', () => {
    const shelf = new Shelf('asked');
    expect(bodyOf(shelf, partAttempt(shelf, CALL_PART)).text).to.equal('asked');
    expect(bodyOf(shelf, partAttempt(shelf, RESULT_PART)).text).to.equal('asked');
  });
});

describe('the parts of a body', () => {
  it('are taken from memory if all of them are there', () => {
    const shelf = new Shelf('a', 'b');
    expect(keptContents([shelf.ref(1), shelf.ref(0), shelf.ref(2)], shelf)).to.have.length(3);
    shelf.away.add(2);
    expect(keptContents([shelf.ref(1), shelf.ref(0), shelf.ref(2)], shelf)).to.equal(undefined);
  });

  it('are loaded in order, some at a time, where they are not in memory', async () => {
    const shelf = new Shelf(...Array.from({ length: 100 }, (_, at) => `body ${at + 1}`));
    for (let number = 2; number <= 100; number += 1) shelf.away.add(number);
    let under = 0;
    let most = 0;
    const bodies = {
      get: (number: number) => shelf.get(number),
      load: async (number: number) => {
        under += 1;
        most = Math.max(most, under);
        const content = await shelf.load(number);
        under -= 1;
        return content;
      },
    };
    const refs = [0, ...Array.from({ length: 100 }, (_, at) => at + 1)].map((number) => shelf.ref(number));
    const contents = await loadedContents(refs, bodies);
    expect(contents.map((content) => Buffer.from(content).toString())).to.deep.equal([
      '',
      ...Array.from({ length: 100 }, (_, at) => `body ${at + 1}`),
    ]);
    expect(most).to.be.within(2, 32);
  });
});

describe('the hash of a body', () => {
  function* putTogetherAs(body: Uint8Array): Generator<void, Uint8Array> {
    yield;
    return body;
  }

  it('is computed in slices for a large body, and left to the signer for any other', () => {
    for (const bytes of [0, 512 * 1024, 512 * 1024 + 1, 5_000_000]) {
      const body = Buffer.alloc(bytes, 'large');
      const steps = hashed(putTogetherAs(body));
      let pauses = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) pauses += 1;
      const isLarge = bytes > 512 * 1024;
      expect(step.value.body).to.equal(body);
      expect(step.value.hash).to.equal(isLarge ? createHash('sha256').update(body).digest('base64url') : undefined);
      expect(pauses).to.equal(1 + (isLarge ? Math.ceil(bytes / (512 * 1024)) : 0));
    }
  });
});
