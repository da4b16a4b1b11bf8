/**
 * The command line. `serve` runs the process; other commands connect to a process or to its NATS. A command's modules
 * are loaded only when it runs.
 */
import { readRunningFile, VERSION } from '../adapters/node/index.js';
import { machineSize, workersFor } from '../adapters/workers/index.js';
import type { Environment } from '../config/index.js';
import { describeError } from '../kernel/index.js';
import { listenForSignals } from './interruption.js';
import { commandTree, type RunVerbs } from './lines/tree.js';
import { FAILED, type Output, oneLine, type ParsedArguments, runLine, shown } from './parser.js';
import { isHuman } from './serve-line.js';

/** Decides the number of workers before anything of the program is loaded: one process needs no supervisor. */
const VARIABLE = 'MILLRACE_WORKERS';

/** @returns the environment with a number instead of `auto`; the loading of settings refuses other words */
function withWorkerCount(env: Environment): Environment {
  const { [VARIABLE]: workers, MILLRACE_ROLES: roles } = env;
  if ((workers || 'auto') !== 'auto') return env;
  // Read models are kept by one process, and that is all that this one is for.
  const count = roles === 'projection' ? 1 : workersFor(machineSize());
  return { ...env, [VARIABLE]: `${count}` };
}

function isSupervised({ [VARIABLE]: workers }: Environment): boolean {
  return workers !== '1';
}

const output: Output = {
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
};
const env = process.env;
const argv = process.argv.slice(2);

const RUNS: RunVerbs = {
  process: runProcess,
  data: async (verb, asked) => (await import('./admin-commands.js')).runDataCommand(verb, asked, env),
  db: async (verb, asked) => (await import('./admin-commands.js')).runDbCommand(verb, asked, env),
  account: async (verb, asked) => (await import('./admin-commands.js')).runAccountCommand(verb, asked, env),
  journal: async (verb, asked) => (await import('./journal-access.js')).runJournalCommand(verb, asked, env),
  branch: async (verb, asked) => (await import('./admin-commands.js')).runBranchCommand(verb, asked, env),
  role: async (verb, asked) => (await import('./admin-commands.js')).runRoleCommand(verb, asked, env),
  usage: async (verb, asked) => (await import('./admin-commands.js')).runUsageCommand(verb, asked, env),
  vectors: async (verb, asked) => (await import('./vectors-command.js')).vectorsCommand(verb, asked, output.write),
  backup: async (verb, asked) => (await import('./backup-command.js')).backupCommand(verb, asked, { ...output, env }),
  encryption: async (verb, asked) =>
    (await import('./encryption-command.js')).encryptionCommand(verb, asked, { ...output, env }),
  cluster: async (verb, asked) => (await import('./cluster-command.js')).clusterCommand(verb, asked, env, output.write),
};

const SERVING = new Set<string | undefined>(['serve', 'dev', 'demo']);
// A serving process prints the whole stack and has its own shutdown.
if (!SERVING.has(argv[0])) {
  listenForSignals();
  process.on('uncaughtException', (error) => {
    output.writeError(`millrace: ${oneLine(describeError(error))}\n`);
    process.exit(FAILED);
  });
  // A reader that closes the pipe (`| head`) is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}
const root = commandTree(RUNS);
const code = argv.length === 0 ? await overview() : await runLine(root, argv, output);
// Open handles of a command must not delay its end; its output is flushed first.
process.exitCode = code;
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));

/** The program without any word: what runs here, and the commands. */
async function overview(): Promise<number> {
  const { storage } = (await import('../config/index.js')).loadConfig(env).config;
  const addresses = (await readRunningFile(storage.dataDir))?.addresses;
  const runs =
    addresses === undefined
      ? `no process runs in ${storage.dataDir}: start one with millrace serve, or try millrace dev\n`
      : `a process runs in ${storage.dataDir}: ${Object.entries(addresses)
          .map((pair) => pair.join('='))
          .join(' ')}\nconsole ${addresses.mgmt}/console\n`;
  output.write(`${runs}\n${root.helpInformation()}\n`);
  return 0;
}

async function runProcess(verb: string, asked: ParsedArguments): Promise<number> {
  switch (verb) {
    case 'serve': {
      const isRead = isHuman(asked);
      const { SupervisorLink } = await import('../adapters/workers/index.js');
      const link = SupervisorLink.ofThisProcess();
      if (link !== undefined) return (await import('./worker-command.js')).workerCommand(link, env, isRead);
      const decided = withWorkerCount(env);
      if (!isSupervised(decided)) (await import('./early-threads.js')).beginThreadsEarly(env);
      const { atTerminal, serveCommand } = await import('./serve-command.js');
      return serveCommand(isRead ? atTerminal(decided) : decided, output, {
        isHuman: isRead,
        opensConsole: asked.flags.has('open'),
      });
    }
    case 'dev':
    case 'demo': {
      (await import('./early-threads.js')).beginThreadsEarly({});
      const { devCommand } = await import('./dev/dev-command.js');
      const demo = verb === 'demo' ? new (await import('./dev/demo.js')).Demo() : undefined;
      return devCommand(asked, env, output, demo);
    }
    case 'env':
      return (await import('./admin-commands.js')).runEnvCommand(asked, env);
    case 'login':
    case 'logout':
      return (await import('./admin-commands.js')).runLoginCommand(verb, asked, env);
    case 'mcp':
      return (await import('./admin-commands.js')).runMcpCommand(asked, env);
    case 'reload':
      return (await import('./reload.js')).reloadCommand(env, asked.flags.has('settings'), output);
    case 'upgrade':
      return (await import('./journal-access.js')).runUpgradeCommand(asked, env);
    case 'config':
      output.write((await import('./config-command.js')).configText(asked, env));
      return 0;
    case 'tools':
      output.write(await (await import('./tools-command.js')).toolsText(asked, env));
      return 0;
    case 'doctor':
      return (await import('./doctor/doctor-command.js')).doctorCommand(asked, env, output.write);
    case 'import':
      return (await import('./import/import-command.js')).importCommand(asked, output);
    case 'completion':
      output.write((await import('./completion.js')).completionScript(asked.words[0] as string));
      return 0;
    case 'complete':
      output.write(
        (await import('./completion.js'))
          .candidates(root, asked.words)
          .map((line) => `${line}\n`)
          .join(''),
      );
      return 0;
    default:
      output.write(shown(asked, { version: VERSION }, () => `${VERSION}\n`));
      return 0;
  }
}
