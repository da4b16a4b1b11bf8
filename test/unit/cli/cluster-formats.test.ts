/**
 * `millrace cluster upgrade`: the processes that must read a level first, and the order of the steps. Proves
 * CFO1–CFO3.
 */
import { expect } from 'chai';
import { SESSION_UNCHANGED_MS } from '../../../src/actors/runtime/index.js';
import { raiseFormats } from '../../../src/cli/cluster-formats.js';
import type { ControlCommand } from '../../../src/domain/control/index.js';
import { type AccountId, FIRST_FORMAT_LEVEL, FORMAT_LEVEL, type SessionId } from '../../../src/kernel/index.js';
import type { ClusterStatus, ProcessStatus } from '../../../src/ports/index.js';

const FIRST = 'ac-first' as AccountId;

const reading = (id: string, readsFormat?: number, more: Partial<ProcessStatus> = {}): ProcessStatus => ({
  process: id as SessionId,
  state: 'ready',
  version: '1.2.3',
  host: 'machine',
  pid: 7,
  isDrained: false,
  ownedShards: 0,
  ...(readsFormat !== undefined && { readsFormat }),
  ...more,
});
const NEW = reading('node-new', FORMAT_LEVEL);
const OLD = reading('node-old', FIRST_FORMAT_LEVEL);

const status = (processes: readonly ProcessStatus[], alarms: readonly string[] = []): ClusterStatus => ({
  clusterId: 'C',
  alarms,
  processes,
  shards: [],
  servers: [],
  streams: [],
  drained: [],
  moves: [],
});

function stand({ isNew = false, later = status([NEW]), hasOwner = true } = {}) {
  const did: string[] = [];
  const asked: ControlCommand[] = [];
  return {
    did,
    asked,
    async run(now: ClusterStatus): Promise<string> {
      const formats = {
        by: 'ann@desk',
        account: async () => (isNew ? undefined : FIRST),
        raiseLayout: async (level: number) => void did.push(`layout ${level}`),
        client: {
          send: async (command: ControlCommand) => {
            if (!hasOwner) throw new Error('nobody owns the control shard');
            did.push('journal');
            asked.push(command);
            return { type: 'FormatIs', level: FORMAT_LEVEL } as const;
          },
        },
      };
      const lookAgain = async () => {
        did.push('look');
        return later;
      };
      return raiseFormats(now, lookAgain, formats).then(
        () => 'raised',
        (error: Error) => error.message,
      );
    },
  };
}

describe('millrace cluster upgrade', () => {
  it('writes the level to the layout, checks the processes again, and then writes it to the journal, with a note', async () => {
    const { run, did, asked } = stand();
    expect(await run(status([NEW]))).to.equal('raised');
    expect(did).to.deep.equal([`layout ${FORMAT_LEVEL}`, 'look', 'journal']);
    expect(asked[0]).to.deep.include({
      type: 'Audited',
      account: FIRST,
      command: { type: 'RaiseFormat', level: FORMAT_LEVEL, by: 'ann@desk' },
    });
  });

  it('is refused while a process reads a lower level, with its name', async () => {
    const { run, did } = stand();
    expect(await run(status([NEW, OLD, reading('node-older')]))).to.equal(
      `format level ${FORMAT_LEVEL} is not read by node-old (version 1.2.3, machine:7, reads up to level 1); ` +
        'node-older (version 1.2.3, machine:7, reads up to level 1): upgrade or stop these processes',
    );
    expect(did).to.deep.equal([]);
  });

  it('is refused for a recently seen process that does not answer, unless it is known to read the level', async () => {
    const silent = { process: 'node-gone' as SessionId, state: 'gone', isDrained: false, ownedShards: 0 } as const;
    expect(await stand().run(status([NEW, silent]))).to.match(
      /node-gone \(gone, as far as is known reads up to level 1; a silent process is considered for 10 minutes\)/,
    );
    expect(await stand().run(status([NEW, { ...silent, readsFormat: FORMAT_LEVEL }]))).to.equal('raised');
  });

  it('ignores a process of an older level that was last seen ten minutes ago, and no earlier', async () => {
    const silent = { process: 'node-gone' as SessionId, state: 'silent', isDrained: false, ownedShards: 0 } as const;
    expect(await stand().run(status([NEW, { ...silent, silentForMs: SESSION_UNCHANGED_MS - 1 }]))).to.match(
      /node-gone \(silent, last seen 599 s ago, as far as is known reads up to level 1; a silent process is considered for 10 minutes/,
    );
    expect(await stand().run(status([NEW, { ...silent, silentForMs: SESSION_UNCHANGED_MS }]))).to.equal('raised');
  });

  it('is refused where the list of processes is unknown', async () => {
    const { run, did } = stand();
    expect(await run(status([NEW], ['leases cannot be asked: no answer']))).to.match(
      /^it is not known whether these processes read/,
    );
    expect(did).to.deep.equal([]);
  });

  it('is refused in an installation without data', async () => {
    const { run, did } = stand({ isNew: true });
    expect(await run(status([]))).to.equal('the installation has no data yet: start a process first');
    expect(did).to.deep.equal([]);
  });

  it('stops before the journal when an older process has joined since the first check', async () => {
    const { run, did } = stand({ later: status([NEW, OLD]) });
    expect(await run(status([NEW]))).to.match(/is not read by node-old/);
    expect(did).to.deep.equal([`layout ${FORMAT_LEVEL}`, 'look']);
  });

  it('is completed by running it again', async () => {
    expect(await stand({ hasOwner: false }).run(status([NEW]))).to.equal('nobody owns the control shard');
    const { run, did } = stand();
    expect(await run({ ...status([NEW]), format: FORMAT_LEVEL })).to.equal('raised');
    expect(did.at(-1)).to.equal('journal');
  });
});
