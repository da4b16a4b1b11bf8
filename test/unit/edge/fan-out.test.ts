import { expect } from 'chai';
import { type AcrossPartitions, allCommands, ErrorReply, OK } from '../../../src/domain/kv/index.js';
import { continueScan, mergeOf, routeScan } from '../../../src/edge/commands/fan-out.js';
import { joinSyncTokens } from '../../../src/edge/commands/portions-of-several.js';

const OF_THREE = { partitions: 3 };

describe('edge/kv: commands about every key in several partitions', () => {
  it('are the commands with acrossPartitions in their row', () => {
    const asked = (how: AcrossPartitions) =>
      allCommands().flatMap(({ name, acrossPartitions }) => (acrossPartitions === how ? [name] : []));
    expect(asked('walk')).to.deep.equal(['SCAN']);
    expect(asked('sum')).to.deep.equal(['DBSIZE', 'CLUSTER COUNTKEYSINSLOT']);
    expect(asked('items')).to.deep.equal(['KEYS', 'CLUSTER GETKEYSINSLOT']);
    expect(asked('any')).to.deep.equal(['RANDOMKEY']);
    expect(asked('succeeded')).to.deep.equal(['SCRIPT KILL', 'FUNCTION KILL']);
    expect(asked('first')).to.include.members(['FLUSHALL', 'FLUSHDB', 'CONFIG SET', 'SCRIPT LOAD', 'FUNCTION LOAD']);
  });

  it('SCAN goes through the partitions one after the other and ends with 0', () => {
    const start = routeScan(['SCAN', '0', 'COUNT', '5'], OF_THREE);
    expect(start).to.deep.equal({ partition: 0, words: ['SCAN', '0', 'COUNT', '5'] });
    const middle = continueScan(['77', ['a']], 1, OF_THREE) as [string, string[]];
    expect(routeScan(['SCAN', middle[0]], OF_THREE)).to.deep.equal({ partition: 1, words: ['SCAN', '77'] });
    const next = continueScan(['0', ['b']], 1, OF_THREE) as [string, string[]];
    expect(routeScan(['SCAN', next[0]], OF_THREE)).to.deep.equal({ partition: 2, words: ['SCAN', '0'] });
    expect(continueScan(['0', ['c']], 2, OF_THREE)).to.deep.equal(['0', ['c']]);
  });

  it('SCAN begins again with a cursor of another layout', () => {
    const changed = { partitions: 2, firstPartition: 3 };
    const [former] = continueScan(['77', ['a']], 2, OF_THREE) as [string];
    expect(routeScan(['SCAN', former], changed)).to.deep.equal({ partition: 0, words: ['SCAN', '0'] });
    const [own] = continueScan(['77', ['a']], 1, changed) as [string];
    expect(routeScan(['SCAN', own], changed)).to.deep.equal({ partition: 1, words: ['SCAN', '77'] });
    expect(continueScan(['0', ['c']], 1, changed)).to.deep.equal(['0', ['c']]);
  });

  it('SCAN passes an invalid cursor on to be refused', () => {
    expect(routeScan(['SCAN', 'x'], OF_THREE)).to.deep.equal({ partition: 0, words: ['SCAN', 'x'] });
    const refusal = new ErrorReply('ERR invalid cursor');
    expect(continueScan(refusal, 0, OF_THREE)).to.equal(refusal);
  });

  it('answer the first refusal of any partition', () => {
    const merge = mergeOf('first');
    expect(merge([OK, new ErrorReply('ERR no'), OK])).to.deep.equal(new ErrorReply('ERR no'));
    expect(merge([OK, OK])).to.equal(OK);
  });

  it('SCRIPT KILL succeeds when a script was killed in any partition', () => {
    const merge = mergeOf('succeeded');
    const none = new ErrorReply('NOTBUSY No scripts in execution right now.');
    expect(merge([none, OK, none])).to.equal(OK);
    expect(merge([none, none])).to.equal(none);
  });

  it('join sync tokens so that equal positions of two partitions differ', () => {
    expect(joinSyncTokens(['1-0', undefined])).to.not.equal(joinSyncTokens([undefined, '1-0']));
    expect(joinSyncTokens(['1-0', '2-1'])).to.equal('0:1-0,1:2-1');
    expect(joinSyncTokens([undefined])).to.equal(undefined);
  });
});
