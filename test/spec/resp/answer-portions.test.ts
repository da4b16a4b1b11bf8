/** Proves RAW2, RAW3. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { ByteBudget } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { PASSWORD, type RawClient, RespEndpointHarness, WIDE_PASSWORD } from '../../support/resp-endpoint.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const COMMANDS = 1_000;
const VALUE_BYTES = 64 * KIB;
const PORTION_BYTES = MIB;

describe('RESP: long answers', () => {
  let budget: ByteBudget;
  let face: RespEndpointHarness;
  let client: RawClient;
  beforeEach(async () => {
    budget = new ByteBudget(64 * MIB);
    const limits = { answerPortionBytes: PORTION_BYTES, maxTransactionAnswerBytes: 4 * MIB };
    face = await new RespEndpointHarness({ budget, limits }).start();
    client = await face.client();
  });
  afterEach(() => face.stop());

  const lines = (...commands: string[]) => commands.map((line) => encodeCommand(line.split(' '))).join('');
  const valueAt = (i: number) => `${i}:`.padEnd(VALUE_BYTES, 'x');
  const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
  const commandsAsked = () => face.owner.requests.map(({ commands }) => commands.length);

  /** Ten keys of 64 KiB, and no request yet. */
  async function fill(owner: RawClient = client): Promise<void> {
    for (let i = 0; i < 10; i += 1) await owner.call('SET', `k${i}`, valueAt(i));
    face.owner.requests.length = 0;
    face.usages.length = 0;
  }
  const gets = (count: number) =>
    Array.from({ length: count }, (_, i) => encodeCommand(['GET', `k${i % 10}`])).join('');

  it('to a pipeline are made at the speed of the reader, and arrive complete and in order', async () => {
    await fill();
    face.quotaLeft = COMMANDS;
    let mostBytes = 0;
    const watching = setInterval(() => {
      mostBytes = Math.max(mostBytes, budget.usedBytes);
    }, 1);
    client.socket.pause();
    client.send(gets(COMMANDS));
    // The bytes that the kernel buffers for the process are bounded, too.
    await eventually(() => expect(budget.usedBytes).to.be.above(PORTION_BYTES));
    const seen: string[] = [];
    while (seen.length < COMMANDS) {
      client.socket.resume();
      seen.push(await client.next());
      if (seen.length % 100 === 0) client.socket.pause();
    }
    clearInterval(watching);
    expect(seen.every((reply, i) => reply === bulk(valueAt(i % 10)))).to.equal(true);
    expect(mostBytes).to.be.within(PORTION_BYTES, 3 * PORTION_BYTES);
    expect(commandsAsked().length).to.be.above(50);
    // Each was taken from the quota, and counted, once.
    expect(face.quotaLeft).to.equal(0);
    expect(face.usages.reduce((sum, { commands }) => sum + commands, 0)).to.equal(COMMANDS);
    expect(face.usages.reduce((sum, { bytesIn }) => sum + bytesIn, 0)).to.equal(COMMANDS * 5);
    expect(face.usages.reduce((sum, { bytesOut }) => sum + bytesOut, 0)).to.equal(COMMANDS * VALUE_BYTES);
    await eventually(() => expect(budget.usedBytes).to.equal(0));
  });

  it('keep the order of the answers of other commands, without an answer for CLIENT REPLY SKIP', async () => {
    await fill();
    const between = lines('PING', 'NOSUCH', 'CLIENT REPLY SKIP', 'SET silent 1', 'INCR count', 'ECHO here');
    client.send(`${gets(30)}${between}`.repeat(2));
    const answers: string[] = [];
    while (answers.length < 2 * 34) answers.push(await client.next());
    const short = answers.filter((answer) => answer.length < VALUE_BYTES);
    expect(short.map((answer) => answer.slice(0, 8))).to.deep.equal([
      '+PONG\r\n',
      '-ERR unk',
      ':1\r\n',
      '$4\r\nhere',
      '+PONG\r\n',
      '-ERR unk',
      ':2\r\n',
      '$4\r\nhere',
    ]);
    expect(answers[29]).to.equal(bulk(valueAt(9)));
    expect(answers[30]).to.equal('+PONG\r\n');
    expect(await client.call('GET', 'silent')).to.equal('$1\r\n1\r\n');
    expect(Math.max(...commandsAsked())).to.be.below(60);
  });

  it('to a pipeline over several partitions end with errors where they are too long', async () => {
    const wide = await face.client(2, WIDE_PASSWORD);
    await fill(wide);
    wide.send(gets(COMMANDS));
    const answers: string[] = [];
    while (answers.length < COMMANDS) answers.push(await wide.next());
    const whole = answers.filter((answer, i) => answer === bulk(valueAt(i % 10))).length;
    const refused = answers.filter((answer) => answer.startsWith('-ERR answer too large: one request')).length;
    expect(whole + refused).to.equal(COMMANDS);
    expect(whole * VALUE_BYTES).to.be.within(8 * MIB, 17 * MIB);
    expect(await wide.call('GET', 'k0')).to.equal(bulk(valueAt(0)));
  });

  it('to a transaction end with errors for its reads, and its writes are executed', async () => {
    await fill();
    client.send(`${lines('MULTI')}${gets(100)}${lines('SET written 1', 'EXEC')}`);
    for (let i = 0; i < 102; i += 1) await client.next();
    const answer = await client.next();
    expect(answer.match(/^-ERR answer too large/gm)).to.have.length(100 - 65);
    expect(answer.endsWith('+OK\r\n')).to.equal(true);
    expect(await client.call('GET', 'written')).to.equal('$1\r\n1\r\n');
  });

  it('to a transaction are made at the speed of the reader, also with confirmations in between', async () => {
    await fill();
    client.send(`${lines('MULTI')}${gets(60)}${lines('SUBSCRIBE news', 'EXEC')}`);
    for (let i = 0; i < 62; i += 1) await client.next();
    const whole = Array.from({ length: 60 }, (_, i) => bulk(valueAt(i % 10))).join('');
    expect(await client.next()).to.equal(`*61\r\n${whole}*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n`);
  });

  it('are not continued when the client has gone', async () => {
    await fill();
    client.socket.pause();
    client.send(gets(COMMANDS));
    await eventually(() => expect(budget.usedBytes).to.be.above(PORTION_BYTES));
    client.socket.resetAndDestroy();
    await eventually(() => expect(budget.usedBytes).to.equal(0));
    expect(face.server.connections).to.equal(0);
    const asked = commandsAsked().length;
    const other = await face.client();
    await other.call('PING');
    expect(commandsAsked()).to.have.length(asked);
    expect(face.usages.reduce((sum, { commands }) => sum + commands, 0)).to.be.below(COMMANDS);
  });

  it('are not continued for a client without the right to read', async () => {
    await fill();
    client.socket.pause();
    client.send(gets(COMMANDS));
    await eventually(() => expect(budget.usedBytes).to.be.above(PORTION_BYTES));
    face.revoked.add(PASSWORD);
    client.socket.resume();
    await client.closed();
    expect(face.usages.reduce((sum, { commands }) => sum + commands, 0)).to.be.below(COMMANDS);
  });

  it('end with errors for the commands that were not executed when the owner fails', async () => {
    await fill();
    client.socket.pause();
    client.send(gets(COMMANDS));
    await eventually(() => expect(budget.usedBytes).to.be.above(PORTION_BYTES));
    face.owner.failures.push(new Error('gone'));
    client.socket.resume();
    const answers: string[] = [];
    while (answers.length < COMMANDS) answers.push(await client.next());
    const failed = answers.findIndex((answer) => answer.startsWith('-'));
    expect(answers.slice(0, failed).every((reply, i) => reply === bulk(valueAt(i % 10)))).to.equal(true);
    expect(answers[failed]).to.match(/^-ERR .*incident=/);
    // The batch contained the commands that had arrived together; later ones are answered normally.
    expect(answers.at(-1)).to.match(/^(-ERR|\$65536)/);
    expect(await client.call('PING')).to.equal('+PONG\r\n');
  });
});
