/**
 * Runs a page as a new reader would: its blocks in order, in one shell, with a Millrace process that is started as
 * docs/guide/first-hour.md says, unless the first block of the page starts it. A start costs four seconds of processor
 * time, so pages may share a process. If the page opens a terminal a second time, such as `terminal=server`, its program
 * is interrupted first, as by Ctrl-C.
 *
 *  RPG1 every executed block ends in time with exit code 0; the program of a terminal ends with the page
 *  RPG2 the output that comments promise is printed; a command that only reads is repeated, because lists are updated
 *       with a delay
 *  RPG3 no unexpected error is printed
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eventually } from '../eventually.js';
import { ReaderShell } from '../reader-shell.js';
import { expectedOf, expectedOfProgram, inOrder, programComments } from './expected-output.js';
import { blocksOf, isRunnable, type PageBlock, PROGRAMS, SHELL, takenBy } from './page-blocks.js';
import { ReaderHome } from './reader-home.js';
import { ReaderTerminal } from './reader-terminal.js';
import { commandsOf, type ShellCommand } from './shell-commands.js';

const SERVER = 'server';
const SERVER_OF_ALL = 'docs/guide/first-hour.md';
/** Pages that fail on a shared process, with the reason. */
const OWN_SERVER: ReadonlyMap<string, string> = new Map([
  ['docs/guide/moving.md', 'copies the default database into a Redis without indexes and JSON'],
  ['docs/guide/outcomes.md', 'shows the whole DLQ'],
  ['docs/operations/accounts.md', 'creates a second account, and other pages name none'],
  ['docs/operations/admin-api.md', 'expects one database'],
  ['docs/operations/audit.md', 'counts the keys of the default database'],
  ['docs/operations/encryption.md', 'restores a backup into a directory that docs/operations/backups.md uses'],
]);
/** The time limit of a command; installing packages and building with them take a minute, or several on a slow machine. */
const COMMAND_TIMEOUT_MS = 400_000;
/**
 * The wait for later output. Lists are at most a second behind, and some promised output comes after ten seconds; the
 * rest allows for a busy machine.
 */
const LATER_TIMEOUT_MS = 90_000;
const READY = /^ready kv=/m;
/** Commands that only read: the pages' shell functions for requests, and commands of the program. */
const LOOKS = /^(?:q|m|s|base|curl|millrace) (?!.* -(?:X|d|H|D) )/;
/** Log lines of level info, which do not count as output. */
const ORDINARY = /^\{.*"level":"info".*\n/gm;
const ENDED = /([\s\S]*)exit code (\d+)\n$/;
/** Removes the keys of earlier pages from a shared process, which has the password of the first hour. */
const NO_KEYS = 'redis-cli -p 6380 -a a-long-password --no-auth-warning FLUSHALL';
/** An error answer of an endpoint or of redis-cli. */
const REFUSED = /^(?:\{"error"|(?:ERR|NOPERM|NOAUTH|WRONGPASS|OOM|WRONGTYPE|NOSCRIPT) )/m;

/** The process of several pages, one after the other, with the home in which it runs. */
export class SharedServer {
  private constructor(
    readonly home: ReaderHome,
    readonly terminal: ReaderTerminal,
  ) {}

  static async started(): Promise<SharedServer> {
    const home = await ReaderHome.made();
    const server = new SharedServer(home, terminalIn(home, SERVER, commandsOf(home.here(serverOfAll().text))));
    await server.terminal.isReady(READY).catch(async (error: Error) => {
      await server.end();
      throw error;
    });
    return server;
  }

  async end(): Promise<void> {
    await this.terminal.end();
    this.home.remove();
  }
}

export class PageReading {
  readonly #terminals = new Map<string, ReaderTerminal>();
  readonly #laterOn: { terminal: string; text: string }[] = [];
  /** The expected output of the page's files when they are run, by file name. */
  readonly #files = new Map<string, RegExp | undefined>();
  #shell: ReaderShell | undefined;

  private constructor(
    private readonly page: string,
    private readonly home: ReaderHome,
    private readonly shared: SharedServer | undefined,
  ) {
    if (shared !== undefined) this.#terminals.set(SERVER, shared.terminal);
  }

  static needsItsServer(page: string): boolean {
    return OWN_SERVER.has(page) || [...takenBy(page), ...blocksOf(page)].some(isServer);
  }

  /** Runs a page, with its own process if none is given. @throws with the place of the failed block and its output */
  static async of(page: string, shared?: SharedServer): Promise<void> {
    const reading = new PageReading(page, shared?.home ?? (await ReaderHome.made()), shared);
    try {
      await reading.#read();
    } finally {
      await reading.#end();
    }
  }

  async #read(): Promise<void> {
    const blocks = [...takenBy(this.page), ...blocksOf(this.page)];
    this.#shell = new ReaderShell(this.home.env);
    await this.#typed(`cd '${this.home.dir}'; exec 2>'${this.#errors}'`);
    if (this.shared !== undefined) await this.#typed(this.home.here(NO_KEYS));
    const first = blocks.find((block) => isRunnable(block) && !block.words.has('part-of'));
    if (this.shared === undefined && (first === undefined || !isServer(first))) await this.#doBlock(serverOfAll());
    for (const block of blocks) {
      const place = `${block.page}:${block.line}`;
      await this.#doBlock(block).catch((error: Error) => {
        throw new Error(`${place}: ${error.message}\n${this.#said()}`);
      });
    }
    for (const { terminal, text } of this.#laterOn)
      await this.#terminal(terminal).prints(inOrder([text]), LATER_TIMEOUT_MS);
  }

  async #doBlock(block: PageBlock): Promise<void> {
    const { language, words } = block;
    const text = this.home.here(block.text);
    const printedBy = words.get('printed-by');
    if (printedBy !== undefined) this.#expectLater(printedBy, text);
    if (!isRunnable(block) || words.has('part-of')) return;
    const terminal = words.get('terminal');
    if (terminal !== undefined) await this.#open(terminal, text);
    else if (language === SHELL) for (const command of commandsOf(text)) await this.#command(command);
    else await this.#program(language, text, block.line);
  }

  /** Waits until the terminal has printed these lines in order; a line may be continued. */
  #expectLater(terminal: string, text: string): void {
    for (const line of text.trim().split(/\n(?!\s)/))
      this.#laterOn.push({ terminal, text: line.replaceAll(/\n\s+/g, '') });
  }

  async #open(name: string, text: string): Promise<void> {
    const commands = commandsOf(text);
    await this.#terminals.get(name)?.interrupted();
    const terminal = terminalIn(this.home, name, commands);
    this.#terminals.set(name, terminal);
    const { printed } = expectedOf(commands.at(-1)?.comments ?? [], []);
    await terminal.isReady(name === SERVER ? READY : printed);
  }

  async #command({ text, comments }: ShellCommand): Promise<void> {
    const { printed = this.#ofFile(text), elsewhere } = expectedOf(comments, [...this.#terminals.keys()]);
    this.#laterOn.push(...elsewhere);
    const run = async () => {
      const [, shown = '', code] = ENDED.exec(await this.#typed(`${text}\necho "exit code $?"`)) ?? [];
      if (code !== '0') throw new Error(`${text} has ended with ${code}, and printed\n${shown}`);
      if (printed !== undefined && !printed.test(shown))
        throw new Error(`${text} has printed\n${shown}and not\n${printed}`);
      if (printed === undefined && REFUSED.test(shown)) throw new Error(`${text} has printed\n${shown}`);
    };
    await eventually(run, { timeoutMs: LOOKS.test(text) ? LATER_TIMEOUT_MS : 0, everyMs: 200 });
  }

  /** A block that starts with a file name is stored as that file; any other is run immediately. */
  async #program(language: string, text: string, line: number): Promise<void> {
    const sign = language === 'python' ? '#' : '//';
    const expected = expectedOfProgram(programComments(text, sign));
    const [, file] = new RegExp(`^${sign} (\\S+\\.\\w+)\n`).exec(text) ?? [];
    const name = file ?? `block-${line}.${PROGRAMS.get(language)}`;
    mkdirSync(dirname(join(this.home.dir, name)), { recursive: true });
    writeFileSync(join(this.home.dir, name), text);
    this.#files.set(name, expected);
    if (file === undefined)
      await this.#command({ text: `${language === 'python' ? 'python3' : 'node'} ${name}`, comments: [] });
  }

  #ofFile(command: string): RegExp | undefined {
    for (const [name, prints] of this.#files) if (command.includes(name)) return prints;
    return undefined;
  }

  #typed(command: string): Promise<string> {
    return (this.#shell as ReaderShell).run(command, COMMAND_TIMEOUT_MS);
  }

  #terminal(name: string): ReaderTerminal {
    const found = this.#terminals.get(name);
    if (found === undefined) throw new Error(`${this.page} has no terminal ${name}`);
    return found;
  }

  get #errors(): string {
    return join(this.home.dir, 'tmp/stderr');
  }

  /** The output of all terminals, for the message of a failure. */
  #said(): string {
    const errors = existsSync(this.#errors) ? readFileSync(this.#errors, 'utf8') : '';
    const beside = [...this.#terminals].map(([name, { printed }]) => `${name}: ${printed.replaceAll(ORDINARY, '')}`);
    return [`stderr: ${errors}`, ...beside].join('\n');
  }

  async #end(): Promise<void> {
    this.#shell?.end();
    for (const terminal of this.#terminals.values()) if (terminal !== this.shared?.terminal) await terminal.end();
    if (this.shared === undefined) this.home.remove();
  }
}

function terminalIn(home: ReaderHome, name: string, commands: readonly ShellCommand[]): ReaderTerminal {
  const typed = commands.map(({ text }) => text).join('\n');
  return new ReaderTerminal(typed, home.dir, name === SERVER ? home.env : home.envOfOtherProcess);
}

function serverOfAll(): PageBlock {
  return blocksOf(SERVER_OF_ALL).find(isServer) as PageBlock;
}

function isServer({ words }: PageBlock): boolean {
  return words.get('terminal') === SERVER;
}
