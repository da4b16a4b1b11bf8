/**
 * Guessing of secrets at every endpoint of one process; each endpoint is attacked from a loopback address of its own.
 */
import http from 'node:http';
import net from 'node:net';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { endEverything, type MillraceProcess, PASSWORD, startMillrace, TOKEN } from '../support/millrace-process.js';

const EMAIL = 'ops@example.com';
const KEY = 'mrk_short-key-of-ops';
const SHORT_TOKEN = 'short-reader-token';
const GUESS = 'a-guess';
const FAILURES = 30;
const UUID = '00000000-0000-4000-8000-000000000000';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: http.IncomingHttpHeaders;
}

function ask(url: string, authorization: string, from: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { headers: { authorization }, localAddress: from, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
      })
      .on('error', reject);
  });
}

/** The bytes that a connection of the native protocol receives until it is closed, or until they contain `until`. */
function say(
  port: number,
  from: string,
  lines: readonly string[],
  until: RegExp,
): Promise<{ heard: string; isClosed: boolean }> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1', localAddress: from }, () =>
      socket.write(lines.map((line) => `${line}\r\n`).join('')),
    );
    let heard = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      heard += piece;
      if (!until.test(heard)) return;
      resolve({ heard, isClosed: false });
      socket.destroy();
    });
    socket.on('end', () => resolve({ heard, isClosed: true }));
    socket.on('error', reject);
  });
}

const basic = (email: string, key: string) => `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`;
const bearer = (token: string) => `Bearer ${token}`;

describe('guessing of secrets', function () {
  this.timeout(60_000);
  let millrace: MillraceProcess;
  before(async () => {
    const respPort = String(await freePort());
    millrace = await startMillrace({
      env: {
        MILLRACE_MGMT_EMAIL: EMAIL,
        MILLRACE_MGMT_KEY: KEY,
        MILLRACE_KV_READONLY_TOKEN: SHORT_TOKEN,
        MILLRACE_RESP_PORT: respPort,
      },
    });
  });
  after(endEverything);

  const faces: readonly [face: string, from: string, url: () => string, guess: string, text: string][] = [
    [
      'rest',
      '127.0.7.1',
      () => `${millrace.addresses.kv}/get/a`,
      bearer(GUESS),
      'ERR too many failed sign-ins from this address, nothing was executed',
    ],
    [
      'queue',
      '127.0.7.2',
      () => `${millrace.addresses.queue}/v2/queues`,
      bearer(GUESS),
      'too many failed sign-ins from this address, nothing was done',
    ],
    [
      'management',
      '127.0.7.3',
      () => `${millrace.addresses.mgmt}/v2/kv/databases`,
      basic(EMAIL, GUESS),
      'too many failed sign-ins from this address, nothing was done',
    ],
    [
      'admin',
      '127.0.7.4',
      () => `${millrace.addresses.mgmt}/v2/admin/session`,
      bearer(GUESS),
      'too many failed sign-ins from this address, nothing was done',
    ],
    [
      'search',
      '127.0.7.5',
      () => `${millrace.addresses.mgmt}/search/${UUID}/info`,
      bearer(GUESS),
      'too many failed sign-ins from this address, nothing was done',
    ],
    [
      'monitoring',
      '127.0.7.6',
      () => `${millrace.addresses.mgmt}/monitoring/prometheus/federate`,
      bearer(GUESS),
      'too many failed sign-ins from this address, nothing was done',
    ],
  ];

  for (const [face, from, url, guess, text] of faces) {
    it(`at the endpoint "${face}" is answered with 401 up to the bound, then with 429`, async () => {
      const answers: Answer[] = [];
      // The bound grows with time, so there may be more answers than FAILURES.
      while (answers.at(-1)?.status !== 429) answers.push(await ask(url(), guess, from));
      const beyond = answers.pop() as Answer;
      expect(answers.length).to.be.at.least(FAILURES);
      for (const { status } of answers) expect(status).to.equal(401);
      expect(JSON.parse(beyond.text)).to.include({ error: text });
      expect(Number(beyond.headers['retry-after'])).to.be.within(1, 2);
    });
  }

  it('over RESP closes the connection one failure past the bound', async () => {
    const port = Number(new URL(millrace.addresses.resp as string).port);
    const from = '127.0.7.7';
    const { heard, isClosed } = await say(
      port,
      from,
      Array.from({ length: FAILURES + 5 }, () => `AUTH ${GUESS}`),
      /never/,
    );
    expect(isClosed).to.equal(true);
    expect(heard).to.equal(
      `${'-WRONGPASS invalid username-password pair or user is disabled.\r\n'.repeat(FAILURES)}-ERR too many failed sign-ins from this address, try again in 2 s\r\n`,
    );
    expect((await say(port, from, ['HELLO 3 AUTH default another'], /never/)).heard).to.match(/^-ERR too many failed/);
    expect((await say(port, from, [`AUTH ${PASSWORD}`, 'PING'], /PONG/)).heard).to.equal('+OK\r\n+PONG\r\n');
  });

  it('does not lock out other addresses, nor long secrets from the same address', async () => {
    const [rest] = faces as [(typeof faces)[number]];
    const [, from, url] = rest;
    while ((await ask(url(), bearer(GUESS), from)).status !== 429);
    expect((await ask(url(), bearer(TOKEN), from)).status).to.equal(200);
    expect((await ask(url(), bearer(SHORT_TOKEN), '127.0.7.9')).status).to.equal(200);
  });

  it('locks out a short secret from the same address for some seconds', async () => {
    const [, from, url] = faces[0] as (typeof faces)[number];
    do await ask(url(), bearer(GUESS), from);
    while ((await ask(url(), bearer(SHORT_TOKEN), from)).status !== 429);
    await eventually(async () => expect((await ask(url(), bearer(SHORT_TOKEN), from)).status).to.equal(200));
  });

  it('is counted in the metrics for each endpoint', async () => {
    const text = await (await fetch(`${millrace.metricsUrl}/metrics`)).text();
    for (const face of [...faces.map(([name]) => name), 'resp']) {
      const count = new RegExp(`^millrace_sign_ins_failed_total\\{face="${face}"\\} (\\d+)$`, 'm').exec(text)?.[1];
      expect(Number(count), face).to.be.greaterThan(FAILURES);
    }
  });
});
