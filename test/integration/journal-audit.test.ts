/** `journal verify --all` and `journal checkpoint` while a process writes, and after it was killed. Proves CK1, AI1. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  runMillrace,
  startMillrace,
} from '../support/millrace-process.js';

const PRIVATE = 0o600;

describe('the audit of an installation', function () {
  this.timeout(180_000);
  let millrace: MillraceProcess;
  let environment: Environment;
  let queueToken: string;

  before(async () => {
    millrace = await startMillrace({ env: { MILLRACE_SNAPSHOT_ENTRIES: '30' } });
    environment = await embeddedEnvironment(millrace.dataDir);
    const shown = await runMillrace(['account', 'show', '--show-secrets'], environment);
    queueToken = /^queue-token=(\S+)$/m.exec(shown.stdout.toString())?.[1] as string;
  });
  after(() => endEverything());

  const journal = (...words: string[]) => runMillrace(['journal', ...words], environment, { timeoutMs: 90_000 });

  async function write(round: number): Promise<void> {
    for (let at = 0; at < 40; at += 1) {
      await millrace.kv.ask('SET', `key:${at % 25}`, `round ${round}, ${at}`);
      await millrace.kv.ask('ZADD', 'ranking', at, `member ${at % 7}`);
    }
    // The value is larger than one message.
    await millrace.kv.ask('SET', 'large', `${round}`.repeat(700_000));
    for (let at = 0; at < 40; at += 1) {
      const answer = await fetch(`${millrace.addresses.queue}/v2/publish/https://destination.example/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${queueToken}`, 'svc-delay': '1h' },
        body: `message ${round}, ${at} `.repeat(20),
      });
      expect(answer.status, await answer.text()).to.equal(200);
    }
  }

  it('journal verify --all finds no fault while entries are written and snapshots are made, and rebuilds those from the journal', async () => {
    let isDone = false;
    const writing = (async () => {
      for (let round = 0; !isDone; round += 1) await write(round);
    })();
    try {
      await eventually(
        async () => {
          const { code, stdout, stderr } = await journal('verify', '--all');
          const out = stdout.toString();
          expect(code, `${out}${stderr}`).to.equal(0);
          expect(out).to.match(
            /^KV_\d: of its snapshots [1-9]\d* read back \(\d+ bytes\), [1-9]\d* rebuilt from the journal$/m,
          );
          expect(out).to.match(
            /^QUEUE_\d: of its snapshots [1-9]\d* read back \(\d+ bytes\), [1-9]\d* rebuilt from the journal$/m,
          );
          expect(out).to.match(/^CONTROL: \d+ entries/m);
          expect(out).to.match(/^METER: [1-9]\d* records/m);
        },
        { timeoutMs: 120_000, everyMs: 500 },
      );
    } finally {
      isDone = true;
      await writing;
    }
  });

  it('journal checkpoint writes a checkpoint signed with a key of the installation, and overwrites no file', async () => {
    const file = join(millrace.dataDir, 'checkpoint.json');
    const taken = await journal('checkpoint', '--to', file);
    expect(taken.code, taken.stderr).to.equal(0);
    for (const path of [file, join(millrace.dataDir, 'checkpoint.key')]) {
      expect((await stat(path)).mode & 0o777, path).to.equal(PRIVATE);
    }
    const { statement } = JSON.parse(await readFile(file, 'utf8')) as { statement: { shards: { shard: string }[] } };
    expect(statement.shards.map(({ shard }) => shard)).to.include.members(['CONTROL', 'KV_0', 'QUEUE_0']);
    const again = await journal('checkpoint', '--to', file);
    expect(again.code).to.equal(1);
    expect(again.stderr.trim()).to.equal(`millrace journal: the file ${file} exists already`);
    const fingerprint = /signed with key ([0-9a-f]{32})/.exec(taken.stdout.toString())?.[1] as string;
    await write(0);
    const { code, stdout } = await journal('verify', '--against', file, '--signed-by', fingerprint);
    expect(code, stdout.toString()).to.equal(0);
    expect(stdout.toString()).to.match(/, 2 marks confirmed; /);
  });

  it('journal verify --all finds no fault after a kill, while no process runs', async () => {
    await millrace.kill('SIGKILL');
    const { code, stdout, stderr } = await journal('verify', '--all');
    expect(code, `${stdout}${stderr}`).to.equal(0);
  });
});
