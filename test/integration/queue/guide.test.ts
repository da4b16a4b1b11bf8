/**
 * The pages of the guide to the queue, typed in as a reader would, against a real process, the receiver that they
 * describe, and the workflows' endpoint that lies beside them: what they print is what the pages say.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { type GuideCommand, guideCommands } from '../../support/guide-page.js';
import { endEverything, startMillrace, temporaryDirectory } from '../../support/millrace-process.js';

/** In an order that lets each begin where a reader would. */
const PAGES = [
  'publishing.md',
  'groups-and-queues.md',
  'schedules.md',
  'flow-control.md',
  'outcomes.md',
  'receiving.md',
  'workflows.md',
  'workflow-protocol.md',
];
const RECEIVER = 'node -e';
const ENDPOINT = 'docs/guide/workflow.mjs';
/** Others' programs, which run beside the shells, and what every shell begins with. */
const NOT_TYPED_IN = /^(?:node |q\(\))/;
const TOKEN = 'eyJVc2VySUQiOiJtZSJ9';
const END = '../../support/memory/ end';
/** Lists are behind by a second at most; the rest is for a busy machine. */
const LISTED_TIMEOUT_MS = 30_000;

/** One shell for a page: what a command sets, the next ones have. */
class Shell {
  static readonly #all: Shell[] = [];
  readonly #bash: ChildProcessWithoutNullStreams = spawn('bash', ['--noprofile', '--norc']);
  #output = '';

  constructor() {
    Shell.#all.push(this);
    this.#bash.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
  }

  async run(command: string): Promise<string> {
    this.#output = '';
    this.#bash.stdin.write(`${command}\necho '${END}'\n`);
    const ended = async () => {
      if (!this.#output.includes(END)) throw new Error(`it has printed ${this.#output}`);
    };
    await eventually(ended, { timeoutMs: LISTED_TIMEOUT_MS });
    return this.#output.slice(0, this.#output.indexOf(END));
  }

  static endAll(): void {
    for (const shell of Shell.#all.splice(0)) shell.#bash.kill('SIGKILL');
  }
}

describe('the guide to the queue', function () {
  this.timeout(120_000);
  let receiver: ChildProcessWithoutNullStreams;
  let received = '';
  let endpoint: ChildProcessWithoutNullStreams;
  let ofWorkflows = '';
  let translated: (text: string) => string;

  before(async function () {
    if (spawnSync('curl', ['--version']).status !== 0) {
      console.log('    there is no curl here: the guide is not tried out');
      this.skip();
    }
    const millrace = await startMillrace({
      env: { MILLRACE_QUEUE_TOKEN: TOKEN, MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true' },
    });
    const receiverPort = await freePort();
    const endpointPort = await freePort();
    const { port } = new URL(millrace.addresses.queue as string);
    translated = (text) =>
      text
        .replaceAll(':7200', `:${port}`)
        .replaceAll('9100', String(receiverPort))
        .replaceAll('9200', String(endpointPort));
    const command = guideCommands('publishing.md', translated).find(({ text }) => text.startsWith(RECEIVER));
    receiver = spawn('bash', ['-c', `exec ${(command as GuideCommand).text}`]);
    receiver.stdout.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    const file = join(await temporaryDirectory(), 'workflow.mjs');
    writeFileSync(file, translated(readFileSync(ENDPOINT, 'utf8')));
    endpoint = spawn(process.execPath, [file]);
    endpoint.stdout.setEncoding('utf8').on('data', (text: string) => {
      ofWorkflows += text;
    });
    const shell = new Shell();
    await eventually(
      async () => {
        expect(await shell.run(`curl -s http://127.0.0.1:${receiverPort}/ready`)).to.equal('seen');
        const url = `${millrace.addresses.queue}/v2/events`;
        const status = `curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer ${TOKEN}' ${url}`;
        expect(await shell.run(status)).to.equal('200');
        expect(ofWorkflows).to.equal(`workflows at http://127.0.0.1:${endpointPort}\n`);
      },
      { timeoutMs: LISTED_TIMEOUT_MS },
    );
  });

  afterEach(() => Shell.endAll());

  after(async () => {
    Shell.endAll();
    receiver?.kill();
    endpoint?.kill();
    await endEverything();
  });

  for (const page of PAGES) {
    it(`prints what ${page} says`, async () => {
      const shell = new Shell();
      const [definition] = guideCommands('publishing.md', translated).filter(({ text }) => text.startsWith('q()'));
      await shell.run((definition as GuideCommand).text);
      const commands = guideCommands(page, translated).filter(({ text }) => !NOT_TYPED_IN.test(text));
      expect(commands.filter(({ prints }) => prints !== undefined)).not.to.be.empty;
      for (const { text, prints } of commands) {
        const printed = await shell.run(text);
        if (prints === undefined) continue;
        // What only looks may be asked again: lists are a moment behind.
        if (isLook(text) && !prints.test(printed)) await eventuallyPrints(shell, text, prints);
        else expect(printed, text).to.match(prints);
      }
    });
  }

  it('shows the receiver what was published', () =>
    eventually(async () => {
      for (const line of ['POST /orders {"order":1}', 'DELETE /things/4', 'POST /hook?event=paid {}', 'POST /billing'])
        expect(received).to.contain(line);
      expect(received).to.match(/POST \/done \{"status":200,/);
      expect(received).to.match(/POST \/failed \{"status":500,.*"dlqId":"/);
      expect(received)
        .to.match(/POST \/hand \[\{"messageId":"msg_/)
        .and.contain('POST /third hello');
      expect(received).to.match(/POST \/hand \{"status":200,/);
    }));

  it('lets the workflows print what their page says', async () => {
    const page = translated(readFileSync('docs/guide/workflows.md', 'utf8')).replaceAll(/\s+/g, ' ');
    const lines = [...page.matchAll(/prints `(.*?)`[,.]/g)].map(([, line = '']) => line);
    expect(lines).to.have.lengthOf.above(2);
    await eventually(async () => {
      for (const line of lines) expect(ofWorkflows).to.contain(line);
    });
  });
});

function isLook(command: string): boolean {
  return !/ -(?:X|d|H) /.test(command);
}

function eventuallyPrints(shell: Shell, command: string, prints: RegExp): Promise<void> {
  return eventually(
    async () => {
      expect(await shell.run(command), command).to.match(prints);
    },
    { timeoutMs: LISTED_TIMEOUT_MS },
  );
}
