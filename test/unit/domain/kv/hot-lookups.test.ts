/** Lookups of every command that are cached, and the changes that clear the cache. */
import { expect } from 'chai';
import { findCommand } from '../../../../src/domain/kv/commands.js';
import type { CommandSpec } from '../../../../src/domain/kv/index.js';
import { PARAMETER_DEFAULTS } from '../../../../src/domain/kv/parameters.js';
import { Settings } from '../../../../src/domain/kv/settings.js';
import { ServerCounters } from '../../../../src/domain/kv/statistics.js';

describe('cached lookups of every command', () => {
  it('find the row of each name, in any order of names', () => {
    const names = ['GET', 'SET', 'GET', 'get', 'GET', 'OBJECT', 'GET'];
    expect(names.map((name) => findCommand([name, 'x'])?.name)).to.deep.equal([
      ...['GET', 'SET', 'GET', 'GET', 'GET', undefined, 'GET'],
    ]);
    expect(findCommand(['OBJECT', 'ENCODING', 'x'])?.name).to.equal('OBJECT ENCODING');
    expect(findCommand(['OBJECT', 'FREQ', 'x'])?.name).to.equal('OBJECT FREQ');
    expect(findCommand([''])).to.equal(undefined);
  });

  it('count calls per command, and start at zero after a reset', () => {
    const statistics = new ServerCounters();
    const [get, set] = [findCommand(['GET', 'k']), findCommand(['SET', 'k', 'v'])] as [CommandSpec, CommandSpec];
    for (const spec of [get, get, set, get]) statistics.count(spec, 2, undefined);
    expect(statistics.calls.get(get)).to.deep.equal({ calls: 3, micros: 6, failed: 0 });
    expect(statistics.calls.get(set)).to.deep.equal({ calls: 1, micros: 2, failed: 0 });
    statistics.reset();
    statistics.count(get, 1, 'ERR no');
    expect([...statistics.calls]).to.deep.equal([[get, { calls: 1, micros: 1, failed: 1 }]]);
  });

  it('update cached settings when they are changed', () => {
    const settings = new Settings(PARAMETER_DEFAULTS);
    expect(settings.slowerThanMicros).to.equal(settings.number('slowlog-log-slower-than'));
    const seen: number[] = [];
    settings.onChange = () =>
      seen.push(settings.slowerThanMicros, settings.latencyThresholdMs, settings.maxMemoryBytes);
    settings.set('slowlog-log-slower-than', '-1');
    settings.set('latency-monitor-threshold', '7');
    settings.set('maxmemory', '4096');
    expect(seen.slice(0, 1)).to.deep.equal([-1]);
    expect(seen.slice(-3)).to.deep.equal([-1, 7, 4096]);
  });
});
