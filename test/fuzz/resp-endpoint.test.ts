/**
 * Random bytes to the RESP endpoint. For all bytes the endpoint:
 *
 *  FZR1 does not fail: it sends no internal error and logs no error
 *  FZR2 sends whole messages only, and one answer for each command when every command is well formed
 *  FZR3 answers the next valid connection as usual
 */
import net from 'node:net';
import { expect } from 'chai';
import { encodeCommand } from '../../src/codec/resp/index.js';
import { RespClient } from '../support/resp-client.js';
import { PASSWORD, RespEndpointHarness } from '../support/resp-endpoint.js';
import { standOfAllTests } from '../support/stand-hooks.js';
import { type FuzzRandom, itHolds } from './fuzz-run.js';
import { oddCommand } from './odd-words.js';

const ROUNDS = 120;
/** What has no answer, has many, waits, or holds up all others as it should. */
const SPECIAL =
  /^(.?subscribe|.?unsubscribe|ssubscribe|sunsubscribe|monitor|reset|quit|client|hello|wait|multi|exec|discard)$/i;
const WAITING = /^(b[lrz].*|x(read|readgroup)|shutdown)$/i;
/** Not sent at all: it would hold up the good connection too. */
const PAUSE = /pause/i;

interface Said {
  readonly bytes: string;
  /** Undefined: nobody can say. */
  readonly answers: number | undefined;
}

function program(random: FuzzRandom): Said {
  const protocol = random.pick([[], [], ['HELLO', '2'], ['HELLO', '3'], ['HELLO', '3', 'AUTH', 'default', PASSWORD]]);
  const begun = [['AUTH', PASSWORD], ...(protocol.length === 0 ? [] : [protocol])];
  const commands = random.list(12, () => oddCommand(random)).filter((words) => (words[0] ?? '') !== '');
  if (random.chance(0.2)) commands.unshift(['MULTI'], ...random.list(3, () => ['SUBSCRIBE', 'a']));
  const bytes = [...begun, ...commands].map(encodeCommand).join('');
  if (random.chance(0.3)) {
    // The sign-in stays whole: without it nothing else is looked at.
    const from = encodeCommand(['AUTH', PASSWORD]);
    return { bytes: from + random.damaged(bytes.slice(from.length)), answers: undefined };
  }
  const isPlain = commands.every(([name = '']) => !SPECIAL.test(name) && !WAITING.test(name));
  return { bytes, answers: isPlain ? begun.length + commands.length : undefined };
}

describe('fuzz: bytes to the RESP endpoint', () => {
  const face = standOfAllTests(() => new RespEndpointHarness().start());

  async function good(): Promise<void> {
    const client = await RespClient.connect({ port: face.port, host: '127.0.0.1' });
    try {
      expect(await client.call(['AUTH', PASSWORD])).to.equal('+OK\r\n');
      expect(await client.call(['ECHO', 'as ever'])).to.equal('$7\r\nas ever\r\n');
    } finally {
      client.close();
    }
  }

  /** All that comes back; the connection's end is sent as soon as everything was said. */
  function said(pieces: readonly string[]): Promise<Buffer> {
    return new Promise((resolve) => {
      const heard: Buffer[] = [];
      const socket = net.connect({ port: face.port, host: '127.0.0.1', allowHalfOpen: true }, () => {
        for (const piece of pieces) if (piece !== '') socket.write(piece, 'latin1');
        socket.end();
      });
      socket.on('data', (piece) => heard.push(piece));
      socket.on('error', () => undefined);
      socket.on('end', () => socket.destroy());
      socket.on('close', () => resolve(Buffer.concat(heard)));
    });
  }

  itHolds('are answered in whole messages, and other connections are served', ROUNDS, async (random) => {
    const { bytes, answers } = program(random);
    if (PAUSE.test(bytes)) return;
    const shown = JSON.stringify(bytes.slice(0, 1500));
    const heard = await said(random.pieces(bytes));
    const messages = RespClient.repliesOf(heard);
    expect(heard.toString('latin1'), shown).not.to.include('internal error');
    if (answers !== undefined)
      expect(
        messages.filter((message) => !message.startsWith('>')),
        shown,
      ).to.have.lengthOf(answers);
    expect(
      face.log.lines.filter(({ level }) => level === 'error'),
      shown,
    ).to.deep.equal([]);
    await good();
  });
});
