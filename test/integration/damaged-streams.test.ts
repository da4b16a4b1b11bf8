/**
 * Every command of the command line on installations whose streams are missing or damaged: it ends with the documented
 * exit code and one line that names the stream and the remedy, without a stack trace. Installations are copies of one
 * store, each with a nats-server that its commands share.
 */
import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { MillraceCluster } from '../support/millrace-cluster.js';
import {
  embeddedEnvironment,
  endEverything,
  type RunResult,
  runMillrace,
  startMillrace,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { type NatsServer, startNatsServer } from '../support/nats-server.js';

const APP = { user: 'app', password: 'app-secret', systemPassword: 'sys-secret' };
const ENTRIES = 40;
/** Far above the longest wait of a command on one machine with two busy cores; a command that hangs is killed then. */
const ENDS_WITHIN_MS = 60_000;
const FORBIDDEN_IN_A_LINE = /\n\s+at |node:internal|UnhandledPromise/;

type Damage = (directory: string, older: string) => Promise<void>;

const missing: Damage = (directory) => rm(directory, { recursive: true });
const older: Damage = async (directory, before) => {
  await rm(directory, { recursive: true });
  await cp(before, directory, { recursive: true });
};
/** After a crash: the server drops messages that it cannot read. */
const truncated: Damage = async (directory) => {
  const blocks = await blocksOf(directory);
  for (const block of blocks) await truncate(block, Math.floor((await readFile(block)).length / 2));
  await rm(join(directory, 'msgs', 'index.db'), { force: true });
};
const holed: Damage = async (directory) => {
  for (const block of await blocksOf(directory)) {
    const bytes = await readFile(block);
    const at = Math.floor(bytes.length / 2);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    await writeFile(block, bytes);
  }
};

async function blocksOf(directory: string): Promise<string[]> {
  const files = await readdir(join(directory, 'msgs'));
  return files.filter((name) => name.endsWith('.blk')).map((name) => join(directory, 'msgs', name));
}

/** The arguments of `millrace`; `@` is a directory of the command. */
const COMMANDS = {
  'verify --all': ['journal', 'verify', '--all'],
  verify: ['journal', 'verify', '--database', 'default'],
  export: ['journal', 'export', '--database', 'default'],
  tail: ['journal', 'tail', '--database', 'default'],
  replay: ['journal', 'replay', '--database', 'default', '--at', '2100-01-01T00:00:00Z'],
  diff: ['journal', 'diff', '--database', 'default', '--from', '2020-01-01T00:00:00Z', '--to', '2100-01-01T00:00:00Z'],
  checkpoint: ['journal', 'checkpoint', '--to', '@/checkpoint.json'],
  'backup create': ['backup', 'create', '--to', '@/backup'],
  'cluster verify': ['cluster', 'verify'],
  'db list': ['db', 'list'],
  'account list': ['account', 'list'],
  serve: ['serve'],
} as const;
type Command = keyof typeof COMMANDS;

const ALL = Object.keys(COMMANDS) as Command[];
const OF_HISTORY: readonly Command[] = ['verify --all', 'verify', 'export', 'tail', 'replay', 'diff', 'checkpoint'];
const READING: readonly Command[] = [...OF_HISTORY, 'backup create'];

interface Case {
  readonly stream: string;
  readonly damage: Damage;
  readonly what: string;
  /** The commands that fail because of the damage. */
  readonly commands: readonly Command[];
  /** Which of them are run where not all are: the rest ends in the same place. */
  readonly some: readonly Command[];
}

const CASES: readonly Case[] = [
  { stream: 'KV_0', what: 'is missing', damage: missing, commands: ALL, some: ['export', 'cluster verify', 'db list'] },
  ...['CONTROL', 'METER', 'INTAKE_0', 'KV_leases', 'OBJ_snapshots'].map((stream) => ({
    stream,
    what: 'is missing',
    damage: missing,
    commands: ['verify --all', 'backup create', 'serve'] as const,
    some: stream === 'METER' ? (['serve'] as const) : [],
  })),
  {
    stream: 'KV_0',
    what: 'is shorter than before',
    damage: older,
    commands: READING,
    some: ['verify', 'export', 'tail', 'backup create'],
  },
  {
    stream: 'KV_0',
    what: 'lost half of its bytes',
    damage: truncated,
    commands: ['export', 'replay', 'backup create'],
    some: [],
  },
  { stream: 'KV_0', what: 'has a damaged message', damage: holed, commands: READING, some: ['replay', 'checkpoint'] },
  {
    stream: 'CONTROL',
    what: 'is shorter than before',
    damage: older,
    commands: [...READING, 'serve'],
    some: ['diff', 'serve'],
  },
  {
    stream: 'CONTROL',
    what: 'has a damaged message',
    damage: holed,
    commands: [...READING, 'serve'],
    some: ['verify', 'serve'],
  },
];

/** Each command with each damage takes a minute or two of both cores. */
const isAll = process.env.DAMAGED_STREAMS === 'all';

describe('the command line on damaged streams', function () {
  this.timeout(240_000);
  let store: string;
  let earlier: string;
  let sealKeyFile: string;

  /** An installation with history, and its store as it was some entries earlier. */
  before(async () => {
    const server = await startNatsServer({ ...APP, syncAlways: true });
    const facts = { ...factsOf(server), stop: () => server.stop() };
    const cluster = await MillraceCluster.prepare(facts);
    [store, earlier] = [await temporaryDirectory(), await temporaryDirectory()];
    for (const copy of [earlier, store]) {
      const millrace = await cluster.start();
      await eventually(() => millrace.kv.ask('SET', 'first', copy));
      for (let at = 0; at < ENTRIES; at += 1) await millrace.kv.ask('SET', `key:${at}`, 'value'.padEnd(60, '.'));
      // A change of the control state by a process that does not own it.
      const made = await cluster.run(['db', 'create', '--name', `db-${copy === store ? 'later' : 'earlier'}`]);
      expect(made.code, made.stderr).to.equal(0);
      sealKeyFile = (await cluster.environment('')).MILLRACE_SEAL_KEY_FILE as string;
      expect((await millrace.kill('SIGTERM')).code).to.equal(0);
      await server.kill();
      await cp(server.storeDir, copy, { recursive: true });
      await server.start();
    }
    await server.stop();
  });
  after(endEverything);

  for (const { stream, what, damage, commands: every, some } of CASES) {
    const commands = isAll ? every : some;
    if (commands.length === 0) continue;
    it(`when ${stream} ${what}, each command ends with one line that names the stream: ${commands.join(', ')}`, async () => {
      const server = await damagedServer(stream, damage);
      try {
        const results = await Promise.all(
          commands.map(async (command) => [command, await run(command, server)] as const),
        );
        for (const [command, result] of results) expectOneLine(command, stream, result);
      } finally {
        await server.stop();
      }
    });
  }

  it('a command with an embedded server also ends with that line', async () => {
    const dataDir = await temporaryDirectory();
    const env = { ...(await embeddedEnvironment(dataDir)), MILLRACE_KV_SHARDS: '1', MILLRACE_QUEUE_SHARDS: '1' };
    const millrace = await startMillrace({ dataDir, env });
    await millrace.kill('SIGTERM');
    const streams = await streamsIn(join(dataDir, 'nats'));
    await rm(join(streams, 'KV_0'), { recursive: true });
    for (const command of isAll ? READING : (['export'] as const)) {
      const result = await runMillrace(await wordsOf(command), env, { timeoutMs: ENDS_WITHIN_MS });
      expectOneLine(command, 'KV_0', result);
    }
  });

  async function damagedServer(stream: string, damage: Damage): Promise<NatsServer> {
    const server = await startNatsServer({ ...APP, syncAlways: true });
    await server.kill();
    await rm(server.storeDir, { recursive: true, force: true });
    await cp(store, server.storeDir, { recursive: true });
    await damage(join(await streamsIn(server.storeDir), stream), join(await streamsIn(earlier), stream));
    await server.start();
    return server;
  }

  async function run(command: Command, server: NatsServer): Promise<RunResult> {
    const { url, user, password, sysUser, sysPassword } = factsOf(server);
    const { MILLRACE_NATS_SERVER: _, ...environment } = await embeddedEnvironment(await temporaryDirectory());
    const env = {
      ...environment,
      MILLRACE_NATS_URL: url,
      MILLRACE_NATS_USER: user,
      MILLRACE_NATS_PASSWORD: password,
      MILLRACE_NATS_SYS_USER: sysUser,
      MILLRACE_NATS_SYS_PASSWORD: sysPassword,
      MILLRACE_SEAL_KEY_FILE: sealKeyFile,
    };
    return runMillrace(await wordsOf(command), env, { timeoutMs: ENDS_WITHIN_MS });
  }
});

async function wordsOf(command: Command): Promise<string[]> {
  const own = await temporaryDirectory();
  return COMMANDS[command].map((word) => word.replace('@', own));
}

function expectOneLine(command: Command, stream: string, { code, signal, stdout, stderr }: RunResult): void {
  const told = `${command}: ended with ${code ?? signal}\n${stdout}\n${stderr}`;
  expect(code, told).to.equal(1);
  expect(stderr, told).to.not.match(FORBIDDEN_IN_A_LINE);
  // An embedded process logs lines of JSON to standard error; `verify` reports damage on standard output.
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  const findings = stdout
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('DAMAGED') || line.startsWith('stream-'));
  if (findings.length > 0) {
    expect(
      findings.every((line) => line.includes(stream)),
      told,
    ).to.equal(true);
    return;
  }
  const failures = lines.filter((line) => line.startsWith('millrace'));
  expect(failures, told).to.have.length(1);
  expect(failures[0], told).to.contain(stream).and.to.contain('docs/operations/backups.md');
}

function factsOf({ url }: NatsServer) {
  return { url, user: APP.user, password: APP.password, sysUser: 'sys', sysPassword: APP.systemPassword };
}

async function streamsIn(store: string): Promise<string> {
  const files = await readdir(store, { recursive: true });
  const found = files.find((path) => path.endsWith(join('APP', 'streams')));
  expect(found, `no streams under ${store}`).to.be.a('string');
  return join(store, found as string);
}
