/**
 * A user of the console: a real browser on a real process. It records problems outside of a test's own checks, and
 * `closePages` fails because of them: errors of the page's scripts, failed answers, and requests to other hosts.
 *
 *  CBR1 a browser context signs in by typing, as a user does
 *  CBR2 requests go to loopback addresses only
 *  CBR3 pages of a test share no storage. A page of a later test has the context of an earlier one, with its session and
 *       cache and with empty storage: it loads in a third of the processor time
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { endEverything, type MillraceProcess, runMillrace, startMillrace } from '../millrace-process.js';
import { type MgmtAnswer, managementCall } from './management-call.js';

/** The places of the browser; `.ci/run` installs Debian's package. */
const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const QUIET = ['--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', ...QUIET];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HEIGHT = 860;
/** Generous: a machine of CI may be ten times as slow as a good one, and a test that passes does not wait for it. */
const PATIENCE_MS = 60_000;

export const EMAIL = 'admin@localhost.localdomain';
export const KEY = 'mrk_key-of-the-browser-tests';

/** The settings of a page: a width and a theme. */
export interface View {
  readonly width: 1920 | 1280 | 390;
  readonly scheme: 'light' | 'dark';
  /** The locale; American English by default. */
  readonly locale?: string;
}

const ALL_VIEWS: readonly View[] = [
  { width: 1280, scheme: 'light' },
  { width: 390, scheme: 'dark' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
];
/** `VIEWS=2` has both widths and both themes once; by default each width has each theme. */
export const VIEWS = ALL_VIEWS.slice(0, Number(process.env.VIEWS ?? ALL_VIEWS.length));
const [WIDE] = VIEWS as [View];

export class ConsoleBrowser {
  #browser: Browser | undefined;
  #process: MillraceProcess | undefined;
  readonly #pages: ConsolePage[] = [];
  /** Contexts with a session that no test uses, by key and locale. */
  readonly #free = new Map<string, BrowserContext[]>();

  /** @param expected problems of every page that are no failures, by their recorded text */
  constructor(private readonly expected: readonly RegExp[] = []) {}

  /** Starts a console and its process for all tests of a block, and checks every page after each test. */
  static forSuite(): ConsoleBrowser {
    const browser = new ConsoleBrowser();
    before(() => browser.start());
    afterEach(() => browser.closePages());
    after(() => browser.end());
    return browser;
  }

  async start(env: Readonly<Record<string, string>> = {}): Promise<this> {
    const executablePath = PROGRAMS.find((path) => existsSync(path));
    if (executablePath === undefined)
      throw new Error(`no browser is at any of ${PROGRAMS.join(', ')}: install chromium`);
    this.#process = await startMillrace({ env: { MILLRACE_MGMT_KEY: KEY, ...env } });
    this.#browser = await chromium.launch({ executablePath, args: ARGUMENTS });
    return this;
  }

  get process(): MillraceProcess {
    return this.#process as MillraceProcess;
  }

  get url(): string {
    return this.process.addresses.mgmt as string;
  }

  /** Sends a request to the management API as the owner. */
  manage(method: string, path: string, body?: unknown): Promise<MgmtAnswer> {
    return managementCall(this.url, `${EMAIL}:${KEY}`, { method, path, body });
  }

  /** The id of the default database. */
  async firstDatabase(): Promise<string> {
    const [database] = (await this.manage('GET', '/v2/kv/databases')).json as [{ database_id: string }];
    return database.database_id;
  }

  /** Runs a Redis command in the first database. @returns its result or error */
  async kv(...words: readonly (string | number)[]): Promise<unknown> {
    const outcome = await this.process.kv.command(...words);
    return outcome.kind === 'done' ? outcome.result : outcome;
  }

  /** A new page that is signed in and shows the path. @param key the key of a member; the owner's if undefined */
  async personAt(path: string, key?: string, view?: View): Promise<ConsolePage> {
    const person = await this.person(view, key);
    await person.open(path);
    await person.heading().waitFor();
    return person;
  }

  /** Creates a key with read rights only. */
  async readOnlyKey(name: string): Promise<string> {
    const answer = await this.manage('POST', '/apikey', { name, readonly: true });
    return (answer.json as { api_key: string }).api_key;
  }

  /** Runs a command of the command line while the process runs. @throws with the output of a failed command */
  async command(...words: readonly string[]): Promise<void> {
    const { code, stderr } = await runMillrace(words, { MILLRACE_DATA_DIR: this.process.dataDir });
    expect(code, stderr).to.equal(0);
  }

  /** A new page that is not signed in. */
  async visitor(view: View = WIDE): Promise<ConsolePage> {
    const context = await this.#context(view);
    return this.#shown(context, () => context.close());
  }

  /** A new, empty page that is signed in. */
  async person(view: View = WIDE, key = KEY): Promise<ConsolePage> {
    const free = this.#freeOf(key, view);
    const context = free.pop() ?? (await this.#signedIn(key, view));
    const person = await this.#shown(context, async () => {
      const [, ...pages] = context.pages();
      await Promise.all(pages.map((page) => page.close()));
      free.push(context);
    });
    await person.becomesNew(view);
    return person;
  }

  /** The end of every test: closes its pages and fails if a problem was recorded. */
  async closePages(): Promise<void> {
    const wrong = this.#pages.splice(0).map(async (page) => page.end());
    expect((await Promise.all(wrong)).flat()).to.deep.equal([]);
  }

  async end(): Promise<void> {
    await this.#browser?.close();
    await endEverything();
  }

  async #context({ width, scheme, locale = 'en-US' }: View): Promise<BrowserContext> {
    const context = await (this.#browser as Browser).newContext({
      viewport: { width, height: HEIGHT },
      colorScheme: scheme,
      locale,
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  }

  async #shown(context: BrowserContext, close: () => Promise<void>): Promise<ConsolePage> {
    const page = new ConsolePage(await context.newPage(), this.url, close).allowProblem(...this.expected);
    this.#pages.push(page);
    return page;
  }

  #freeOf(key: string, { locale }: View): BrowserContext[] {
    const name = `${key} ${locale}`;
    const free = this.#free.get(name) ?? [];
    this.#free.set(name, free);
    return free;
  }

  /** Its page stays open and empty: the browser ends the warm process of a context without pages. */
  async #signedIn(key: string, view: View): Promise<BrowserContext> {
    const context = await this.#context(view);
    const visitor = await this.#shown(context, () => Promise.resolve());
    await visitor.open('/console/');
    await visitor.signIn(EMAIL, key);
    await visitor.page.goto('about:blank');
    return context;
  }
}

export class ConsolePage {
  readonly #wrong: string[] = [];
  readonly #expected: RegExp[] = [];

  /** @param close closes the page */
  constructor(
    readonly page: Page,
    private readonly url: string,
    private readonly close: () => Promise<void>,
  ) {
    page.on('pageerror', ({ message }) => this.#wrong.push(`error: ${message}`));
    page.on('console', (message) => {
      // Failed answers are recorded below with their addresses.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.#wrong.push(`console: ${message.text()}`);
      }
    });
    page.on('response', (answer) => {
      // The page repeats such a request, and shows an error when that fails too.
      const isRepeated = answer.status() === 503 && answer.headers()['retry-after'] !== undefined;
      if (answer.status() >= 400 && !isRepeated) this.#wrong.push(`${answer.status()} ${answer.url()}`);
    });
    page.on('request', (request) => {
      const asked = request.url();
      if (!asked.startsWith(url) && !/^(data|blob|about):/.test(asked)) this.#wrong.push(`elsewhere: ${asked}`);
    });
  }

  /** Declares expected problems by their recorded text. */
  allowProblem(...failures: readonly RegExp[]): this {
    this.#expected.push(...failures);
    return this;
  }

  async open(path: string): Promise<void> {
    await this.page.goto(this.url + path);
  }

  async signIn(email: string, key: string): Promise<void> {
    await this.page.getByLabel('E-mail').fill(email);
    await this.page.getByLabel('Management key').fill(key);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.heading().waitFor();
  }

  /** Gives the page its view, and empties the storage of its context. */
  async becomesNew({ width, scheme }: View): Promise<void> {
    await this.page.setViewportSize({ width, height: HEIGHT });
    await this.page.emulateMedia({ colorScheme: scheme });
    const debug = await this.page.context().newCDPSession(this.page);
    await debug.send('Storage.clearDataForOrigin', { origin: this.url, storageTypes: 'local_storage' });
    await debug.detach();
  }

  /** The heading of the page, when it is visible. */
  heading() {
    return this.page.locator('#main h1');
  }

  /** The accessibility problems, one line each. */
  async inaccessible(): Promise<string[]> {
    await this.page.evaluate(AXE);
    return this.page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
      interface Violation {
        readonly id: string;
        readonly help: string;
        readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
      }
      // Elements without a problem need no report.
      const { violations } = await axe.run({ resultTypes: ['violations'] });
      return violations.flatMap(({ id, help, nodes }) =>
        nodes
          .slice(0, 3)
          .map(
            ({ html, failureSummary = '' }) => `${id}: ${help}: ${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`,
          ),
      );
    });
  }

  /** Returns true if an element is wider than the page. */
  async isTooWide(): Promise<boolean> {
    return this.page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
  }

  /** @returns the unexpected problems */
  async end(): Promise<string[]> {
    await this.close();
    return this.#wrong.filter((line) => !this.#expected.some((expected) => expected.test(line)));
  }
}
