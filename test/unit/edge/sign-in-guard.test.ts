/** Proves SIG1–SIG4. */
import { expect } from 'chai';
import {
  MAX_ADDRESSES,
  type SignInEndpoint,
  SignInGuard,
  type SignIns,
  UNGUESSABLE_CHARACTERS,
} from '../../../src/edge/sign-in-guard.js';
import type { Metrics } from '../../../src/ports/index.js';
import { UNWATCHED } from '../../../src/ports/index.js';
import { MemoryLog } from '../../support/kv-endpoint.js';
import { ManualTime } from '../../support/memory/index.js';

const ADDRESS = '192.0.2.1';
const SHORT = 'a-short-secret';
const PER_MINUTE = 30;

function stand(perMinute = PER_MINUTE) {
  const time = new ManualTime();
  const log = new MemoryLog();
  const counted: Record<string, number> = {};
  const metrics: Metrics = {
    ...UNWATCHED,
    counter: (name, label) => ({
      add: () => {
        counted[`${name} ${label}`] = (counted[`${name} ${label}`] ?? 0) + 1;
      },
    }),
  };
  const guard = new SignInGuard({ clock: time, timers: time, log, metrics }, perMinute);
  return { time, log, counted, guard, of: (face: SignInEndpoint) => guard.of(face) };
}

function fail(signIns: SignIns, times: number, address = ADDRESS): void {
  for (let i = 0; i < times; i += 1) expect(signIns.failed(address), `failure ${i + 1}`).to.equal(undefined);
}

describe('failed sign-ins', () => {
  it('are answered normally up to the bound, and the next one waits for seconds', () => {
    const rest = stand().of('rest');
    fail(rest, PER_MINUTE);
    expect(rest.waitOf(ADDRESS, SHORT)).to.equal(2);
    expect(rest.failed(ADDRESS)).to.equal(2);
  });

  it('regain attempts with time, one after the other, and all within a minute', async () => {
    const { of, time } = stand();
    const rest = of('rest');
    fail(rest, PER_MINUTE);
    await time.advance(1_999);
    expect(rest.waitOf(ADDRESS, SHORT)).to.equal(1);
    await time.advance(1);
    expect(rest.waitOf(ADDRESS, SHORT)).to.equal(undefined);
    fail(rest, 1);
    expect(rest.waitOf(ADDRESS, SHORT)).to.equal(2);
    await time.advance(60_000);
    fail(rest, PER_MINUTE);
    expect(rest.failed(ADDRESS)).to.equal(2);
  });

  it('that are refused do not prolong the wait', async () => {
    const { of, time } = stand();
    const rest = of('rest');
    fail(rest, PER_MINUTE);
    for (let i = 0; i < 1_000; i += 1) expect(rest.waitOf(ADDRESS, SHORT)).to.equal(2);
    await time.advance(2_000);
    expect(rest.waitOf(ADDRESS, SHORT)).to.equal(undefined);
  });

  it('are counted per address, over all endpoints together', () => {
    const { of } = stand();
    const resp = of('resp');
    fail(of('rest'), PER_MINUTE);
    expect(resp.waitOf(ADDRESS, SHORT)).to.equal(2);
    expect(resp.waitOf('192.0.2.2', SHORT)).to.equal(undefined);
    expect(resp.waitOf(`::ffff:${ADDRESS}`, SHORT), 'the same, as a socket of both families has it').to.equal(2);
    expect(resp.waitOf('::ffff:192.0.2.2', SHORT)).to.equal(undefined);
  });

  it('are counted per network of an IPv6 address, in any notation', () => {
    const rest = stand().of('rest');
    fail(rest, PER_MINUTE, '2001:db8:1:2::1');
    expect(rest.waitOf('2001:db8:1:2:ffff::9', SHORT)).to.equal(2);
    expect(rest.waitOf('2001:db8:1:3::1', SHORT)).to.equal(undefined);
    expect(rest.waitOf('2001:db8::1', SHORT)).to.equal(undefined);
  });

  it('do not lock out a client with a secret that cannot be guessed', () => {
    const rest = stand().of('rest');
    fail(rest, PER_MINUTE);
    expect(rest.waitOf(ADDRESS, 'x'.repeat(UNGUESSABLE_CHARACTERS))).to.equal(undefined);
    expect(rest.waitOf(ADDRESS, 'x'.repeat(UNGUESSABLE_CHARACTERS - 1))).to.equal(2);
  });

  it('are forgotten after a minute, and then cost no check', async () => {
    const { of, time, guard } = stand();
    const rest = of('rest');
    expect(rest.isQuiet).to.equal(true);
    fail(rest, 1);
    expect(rest.isQuiet).to.equal(false);
    await time.advance(60_000);
    expect(rest.isQuiet).to.equal(true);
    expect(guard.size).to.equal(0);
    expect(time.pendingCount).to.equal(0);
  });

  it('of too many addresses displace the oldest', () => {
    const { of, guard } = stand(1);
    const rest = of('rest');
    for (let i = 0; i <= MAX_ADDRESSES; i += 1) rest.failed(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    expect(guard.size).to.equal(MAX_ADDRESSES);
    expect(rest.waitOf('10.0.0.0', SHORT)).to.equal(undefined);
    expect(rest.waitOf('10.0.0.1', SHORT)).to.equal(60);
  });

  it('delay no sign-in when the bound is 0, and are still counted', async () => {
    const { of, time, log, counted } = stand(0);
    const rest = of('rest');
    fail(rest, 1_000);
    expect(rest.isQuiet).to.equal(true);
    expect(counted).to.deep.equal({ 'millrace_sign_ins_failed_total rest': 1_000 });
    await time.advance(60_000);
    expect(log.lines.map(({ fields }) => fields)).to.deep.equal([
      { face: 'rest', failures: 1_000, refused: 0, addresses: { [ADDRESS]: 1_000 } },
    ]);
  });

  it('are logged once a minute per endpoint, with user and address, and without the secret', async () => {
    const { of, time, log, counted } = stand();
    const management = of('management');
    const resp = of('resp');
    for (let i = 0; i < PER_MINUTE + 5; i += 1) management.failed(ADDRESS, 'ann@example.com');
    for (let i = 0; i < 3; i += 1) management.waitOf(ADDRESS, SHORT, 'bob@example.com');
    resp.failed('192.0.2.9', 'x'.repeat(500));
    expect(log.lines).to.deep.equal([]);
    await time.advance(60_000);
    expect(log.lines).to.deep.equal([
      {
        level: 'warn',
        event: 'sign-in.failed',
        fields: {
          face: 'management',
          failures: 38,
          refused: 8,
          addresses: { [ADDRESS]: 38 },
          names: { 'ann@example.com': 35, 'bob@example.com': 3 },
        },
      },
      {
        level: 'warn',
        event: 'sign-in.failed',
        fields: {
          face: 'resp',
          failures: 1,
          refused: 0,
          addresses: { '192.0.2.9': 1 },
          names: { ['x'.repeat(64)]: 1 },
        },
      },
    ]);
    expect(counted).to.deep.equal({
      'millrace_sign_ins_failed_total management': 38,
      'millrace_sign_ins_failed_total resp': 1,
    });
    await time.advance(600_000);
    expect(log.lines).to.have.length(2);
  });
});
