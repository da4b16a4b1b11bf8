/** The supervisor's answer to `millrace reload`: the settings of new workers, and settings that need a restart. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeRunningFile } from '../../../src/adapters/node/index.js';
import type { WorkerEnvironment } from '../../../src/adapters/workers/index.js';
import { answerReload, reloadCommand } from '../../../src/cli/reload.js';
import { loadConfig } from '../../../src/config/index.js';
import { MillraceError } from '../../../src/kernel/index.js';
import { RecordingLog } from '../../support/recording-log.js';

const WORKERS = '3';

describe('millrace reload', () => {
  let dataDir: string;
  let env: Record<string, string>;
  let given: WorkerEnvironment[];
  let log: RecordingLog;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'reload-'));
    env = { MILLRACE_DATA_DIR: dataDir, MILLRACE_WORKERS: WORKERS, MILLRACE_LOG_LEVEL: 'warn' };
    [given, log] = [[], new RecordingLog()];
  });

  afterEach(() => rm(dataDir, { recursive: true }));

  /** @returns the refusal that the command prints; undefined: the workers are replaced */
  async function reload(
    settings: Record<string, string> | undefined,
    replace: (environment: WorkerEnvironment) => Promise<void> = async (environment) => void given.push(environment),
  ): Promise<string | undefined> {
    await writeFile(join(dataDir, 'reload.json'), JSON.stringify({ id: 'one', ...(settings && { settings }) }));
    await answerReload({ config: loadConfig(env).config, env, log }, replace);
    const { id, refusal } = JSON.parse(await readFile(join(dataDir, 'reloaded.json'), 'utf8'));
    expect(id).to.equal('one');
    return refusal;
  }

  it('without --settings replaces the workers with the settings of the running process', async () => {
    expect(await reload(undefined)).to.equal(undefined);
    expect(given).to.deep.equal([{}]);
    expect(log.of('workers.reloaded')).to.have.length(1);
  });

  it('--settings sets new variables, and unsets those that the command does not have', async () => {
    expect(await reload({ MILLRACE_DATA_DIR: dataDir, MILLRACE_REQUEST_HOLD_MS: '900' })).to.equal(undefined);
    expect(given).to.deep.equal([
      {
        MILLRACE_DATA_DIR: dataDir,
        MILLRACE_WORKERS: WORKERS,
        MILLRACE_LOG_LEVEL: '',
        MILLRACE_REQUEST_HOLD_MS: '900',
      },
    ]);
  });

  it('--settings keeps the number of workers with MILLRACE_WORKERS=auto', async () => {
    expect(await reload({ ...env, MILLRACE_WORKERS: 'auto' })).to.equal(undefined);
    expect(given).to.deep.equal([env]);
  });

  for (const [variable, value] of Object.entries({
    MILLRACE_WORKERS: '4',
    MILLRACE_KV_PORT: '1',
    MILLRACE_HOST: '0.0.0.0',
    MILLRACE_ROLES: 'edge,kv',
    MILLRACE_HEAP_MB: '2048',
    MILLRACE_WORKER_SILENCE_MS: '5000',
    MILLRACE_KV_SHARDS: '32',
    MILLRACE_METRICS_TOKEN: 'another-token-of-the-metrics-0123456789',
    MILLRACE_NATS_SERVER: '/another/nats-server',
  })) {
    it(`--settings refuses another ${variable}, with its name, and keeps the workers`, async () => {
      expect(await reload({ ...env, [variable]: value })).to.equal(
        `another value of ${variable} needs a restart of the whole process: the workers stay as they are`,
      );
      expect(given).to.deep.equal([]);
      expect(log.of('workers.reload-refused')).to.have.length(1);
    });
  }

  it('--settings refuses another password of NATS, and shows neither of the two', async () => {
    const nats = { MILLRACE_NATS_URL: 'nats://127.0.0.1:4222', MILLRACE_NATS_USER: 'process' };
    Object.assign(env, nats, { MILLRACE_NATS_PASSWORD: 'the-first-password' });
    expect(await reload({ ...env, MILLRACE_NATS_PASSWORD: 'the-second-password' })).to.equal(
      'another value of MILLRACE_NATS_PASSWORD needs a restart of the whole process: the workers stay as they are',
    );
  });

  it('is refused when no process runs, and for a process without workers', async () => {
    const output = { write: () => undefined, writeError: () => undefined };
    const refusal = () => reloadCommand(env, false, output).catch((error: Error) => error.message);
    expect(await refusal()).to.equal(`no process runs in ${dataDir}: start one with millrace serve`);
    await writeRunningFile(dataDir, { addresses: {}, workers: 1 });
    expect(await refusal()).to.equal(`process ${process.pid} has no workers to replace (MILLRACE_WORKERS): restart it`);
  });

  it('has the reason of a new worker that does not serve', async () => {
    const reason = 'the new worker 1 does not serve, and the old ones stay: exit code 3';
    expect(await reload(undefined, () => Promise.reject(new MillraceError('BAD_CONFIG', reason)))).to.equal(reason);
  });
});
