import { expect } from 'chai';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import type { ErrorReply } from '../../../src/domain/kv/index.js';
import type { KvRequest } from '../../../src/protocol/index.js';
import { KvShardStand, type Outcome } from '../../support/kv-shard-stand.js';

const VALUE = 'x'.repeat(1000);

describe('a request with maxAnswerBytes', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
    await ask({ commands: [['SET', 'large', VALUE]] });
  });

  async function ask(request: Partial<KvRequest>): Promise<Outcome> {
    const outcome = stand.ask(actor, request);
    await stand.settle();
    return outcome;
  }

  const commands = [
    ['GET', 'large'],
    ['GET', 'large'],
    ['SET', 'a', '1'],
    ['GET', 'large'],
  ];

  it('as a pipeline stops after the reply that exceeds the bound', async () => {
    const { replies } = await ask({ mode: 'pipeline', commands, maxAnswerBytes: 1999 });
    expect(replies).to.deep.equal([VALUE, VALUE]);
    expect((await ask({ commands: [['GET', 'a']] })).replies).to.deep.equal([null]);
  });

  it('runs every command when all replies fit', async () => {
    const { replies } = await ask({ mode: 'pipeline', commands, maxAnswerBytes: 4000 });
    expect(replies).to.have.length(4);
  });

  it('as a transaction answers reads after the bound with an error and still runs its writes', async () => {
    const { replies = [] } = await ask({ mode: 'transaction', commands, maxAnswerBytes: 999 });
    expect(replies.map((reply) => (reply as ErrorReply | undefined)?.text ?? reply)).to.deep.equal([
      VALUE,
      'ERR answer too large: one request is answered with 999 bytes at most, ask for less',
      'OK',
      'ERR answer too large: one request is answered with 999 bytes at most, ask for less',
    ]);
    expect((await ask({ commands: [['GET', 'a']] })).replies).to.deep.equal(['1']);
  });
});
