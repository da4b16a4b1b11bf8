/** Attacks by large numbers of connections, subscribers and password guesses. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/command-reader.js';
import { eventually } from '../eventually.js';
import { type Attack, KV_REFUSALS } from './attack.js';
import type { Attacker } from './attacker.js';
import type { RawConnection } from './raw-connection.js';

const CONNECTIONS = 10_000;
/** Connections that are opened at the same time: fewer than a listen backlog holds while its process is busy. */
const AT_ONCE = 250;
const SUBSCRIBERS = 2000;
const GUESSES = 90_000;
const GUESSES_EACH = 500;
const RESP_GUESSES = 100;
const RESP_GUESSERS = 100;
/**
 * Source addresses vary, because a port stays unusable for a minute after its connection closes: a single address
 * would run out of ports within a few runs.
 */
const addressOf = (at: number) => `127.0.${1 + (at % 50)}.1`;

export const MANY_CONNECTIONS: Attack = {
  title: '10,000 idle connections that send commands at the same moment',
  run: async (attacker) => {
    const connections: RawConnection[] = [];
    while (connections.length < CONNECTIONS) {
      const opened = Array.from({ length: AT_ONCE }, (_, at) =>
        attacker.openRawResp({ from: addressOf(connections.length + at) }),
      );
      connections.push(...(await Promise.all(opened)));
    }
    await attacker.waitForSteadyTenant(AT_ONCE);
    await Promise.all(connections.map((connection) => connection.write(encodeCommand(['PING']).repeat(10))));
    await eventually(() => {
      for (const { received } of connections) expect(received).to.match(/^\+OK\r\n(\+PONG\r\n){10}$/);
    });
  },
};

const UNREAD_MESSAGES: Attack = {
  title: '2,000 subscribers that never read their messages',
  run: async (attacker) => {
    for (let i = 0; i < SUBSCRIBERS; i += 1) {
      const connection = await attacker.openRawResp();
      await connection.write(encodeCommand(['SUBSCRIBE', 'news']));
      connection.stopReading();
    }
    const client = await attacker.resp();
    const message = 'x'.repeat(64 * 1024);
    for (let i = 0; i < 100; i += 1) {
      // The server may close this connection because of the subscribers of the same tenant.
      const reply = await client.call(['PUBLISH', 'news', message]).catch((error: Error) => `-${error.message}`);
      if (reply.startsWith('-')) {
        expect(reply).to.match(KV_REFUSALS);
        break;
      }
      expect(reply).to.match(/^:\d+\r\n$/);
    }
  },
};

/** Sends all guesses in one write. @returns the number of answers before the connection closed */
async function sendGuesses(attacker: Attacker, first: number, count: number): Promise<number> {
  const statuses: string[] = [];
  let unread = '';
  const connection = await attacker.openRaw('kv', {
    from: addressOf(first / count),
    onData: (piece) => {
      const text = unread + piece;
      let end = 0;
      for (const match of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        statuses.push(match[1] as string);
        end = match.index + match[0].length;
      }
      // The end of a piece may contain half a status line, so it is kept and read with the next piece.
      unread = text.slice(Math.max(end, text.length - 12));
    },
  });
  const guesses = Array.from(
    { length: count },
    (_, at) => `GET /get/a HTTP/1.1\r\nHost: one\r\nAuthorization: Bearer guess-${first + at}\r\n\r\n`,
  );
  void connection.write(guesses.join(''));
  await eventually(() => expect(connection.isClosed || statuses.length === count, `${statuses.length}`).to.equal(true));
  connection.close();
  for (const status of statuses) expect(status).to.be.oneOf(['401', '429']);
  return statuses.length;
}

export const PASSWORD_GUESSES: Attack = {
  title: '100,000 wrong passwords from 50 addresses',
  run: async (attacker) => {
    let answered = 0;
    while (answered < GUESSES) {
      const first = answered;
      const counts = await Promise.all(
        Array.from({ length: 20 }, (_, at) => sendGuesses(attacker, first + at * GUESSES_EACH, GUESSES_EACH)),
      );
      answered += counts.reduce((sum, count) => sum + count);
    }
    for (let at = 0; at < RESP_GUESSERS; at += 10) {
      const connections = await Promise.all(
        Array.from({ length: 10 }, (_, i) => attacker.openRaw('resp', { from: addressOf(at + i) })),
      );
      for (const connection of connections)
        void connection.write(encodeCommand(['AUTH', 'a-guess']).repeat(RESP_GUESSES));
      await eventually(() => {
        for (const { isClosed } of connections) expect(isClosed).to.equal(true);
      });
      for (const { received } of connections) expect(received).to.match(/^-(WRONGPASS|ERR too many failed sign-ins)/);
    }
  },
};

export const ON_CONNECTIONS: readonly Attack[] = [MANY_CONNECTIONS, UNREAD_MESSAGES, PASSWORD_GUESSES];
