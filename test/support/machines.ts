/**
 * Simulated machines of a test: Linux namespaces that a bridge connects. Each machine has its own network address,
 * processes, users, /etc, /run, /tmp and /var/lib, and this repository at /opt/millrace; `systemctl` and `scp` are
 * stand-ins.
 *
 *  MCH1 the test's own namespaces are not changed: networks and mounts disappear with the test process
 *  MCH2 a loss of power ends all processes of a machine with SIGKILL; /etc and /var/lib stay
 *  MCH3 a command on one machine cannot reach processes of other machines or of the test
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.js';
import { ReaderShell } from './reader-shell.js';

const NETWORK = '10.77.0';
/** The size of each machine's /var/lib, enough for the stores of a test and quickly filled. */
const DISK_MB = 512;
const STAND_INS = resolve(dirname(fileURLToPath(import.meta.url)), '../../../test/support/machines');
const PATH = '/srv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const MACHINE = `
exec 2>"/srv/$NAME/begun.log"
set -e
mount --bind "/srv/$NAME/etc" /etc
mount --bind "/srv/$NAME/lib" /var/lib
for dir in /opt /run /tmp; do mount -t tmpfs tmpfs $dir; done
mkdir /opt/millrace
mount --bind /srv/repository /opt/millrace
hostname "$NAME"
ip link set lo up
until ip link show eth0 >/dev/null 2>&1; do sleep 0.02; done
ip addr add "$ADDRESS/24" dev eth0
ip link set eth0 up
systemctl boot
touch /run/up
while :; do sleep 3600 & wait $!; done`;

/** @returns the reason if machines cannot be created here */
export function whyNoMachines(needed: readonly string[] = []): string | undefined {
  if (process.getuid?.() !== 0) return 'not root';
  const missing = ['unshare', 'nsenter', 'ip', 'setpriv', ...needed].find(
    (name) => spawnSync('which', [name]).status !== 0,
  );
  if (missing !== undefined) return `there is no ${missing}`;
  const tried = spawnSync('unshare', [
    '--net',
    '--mount',
    '--pid',
    '--uts',
    '--fork',
    '--mount-proc',
    'bash',
    '-c',
    TRIAL,
  ]);
  return tried.status === 0 ? undefined : `namespaces are not allowed: ${tried.stderr}`;
}
const TRIAL =
  'mount -t tmpfs tmpfs /opt && ip link add trial type bridge && ip link add trial-1 type veth peer name trial-2';

export class Machines {
  readonly #dir: string;
  readonly #names: readonly string[];
  readonly #running = new Map<string, { unshare: ChildProcess; init: number }>();
  #switch: ChildProcess | undefined;

  /** @param dir a directory that the caller removes. @param names the first machine has the address 10.77.0.1 */
  constructor(dir: string, names: readonly string[], natsServer: string) {
    this.#dir = dir;
    this.#names = names;
    for (const name of ['bin', 'repository']) mkdirSync(join(dir, name));
    chmodSync(dir, 0o755);
    for (const name of readdirSync(STAND_INS)) {
      copyFileSync(join(STAND_INS, name), join(dir, 'bin', name));
      chmodSync(join(dir, 'bin', name), 0o755);
    }
    symlinkSync(process.execPath, join(dir, 'bin/node'));
    copyFileSync(natsServer, join(dir, 'bin/nats-server'));
    for (const name of names) {
      mkdirSync(join(dir, name, 'lib'), { recursive: true });
      spawnSync('cp', ['-a', '/etc', join(dir, name, 'etc')]);
      writeFileSync(join(dir, name, 'etc/hosts'), '127.0.0.1 localhost\n');
    }
  }

  addressOf(name: string): string {
    return `${NETWORK}.${this.#names.indexOf(name) + 1}`;
  }

  async start(): Promise<void> {
    const disks = this.#names.map((name) => `mount -t tmpfs -o size=${DISK_MB}m disk "/srv/${name}/lib"`);
    const script = `
exec 2>'${this.#dir}/begun.log'
set -e
mount --bind '${this.#dir}' /srv
mount --bind '${process.cwd()}' /srv/repository
${disks.join('\n')}
ip link add bridge type bridge
ip link set bridge up
touch /srv/up
exec sleep infinity`;
    this.#switch = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '--net', '--mount', 'bash', '-c', script], {
      stdio: 'ignore',
    });
    await eventually(
      () => readdirSync(this.#dir).includes('up') || fail(`the network is not there: ${this.#said('.')}`),
    );
    for (const name of this.#names) await this.powerOn(name);
  }

  async powerOn(name: string): Promise<void> {
    const args = ['--pdeathsig', 'KILL', ...this.#entered(), 'unshare', '--net', '--mount', '--pid', '--uts', '--fork'];
    const unshare = spawn('setpriv', [...args, '--kill-child', '--mount-proc', 'bash', '-c', MACHINE, name], {
      env: { PATH, NAME: name, ADDRESS: this.addressOf(name) },
      stdio: 'ignore',
    });
    const init = await eventually(() => childOf(unshare.pid as number));
    this.#running.set(name, { unshare, init });
    const port = `port-${this.#names.indexOf(name)}`;
    const cable = `ip link add ${port} type veth peer name eth0 netns ${init} && ip link set ${port} master bridge up`;
    const [nsenter = '', ...into] = this.#entered();
    const laid = spawnSync(nsenter, [...into, 'bash', '-c', cable]);
    if (laid.status !== 0) throw new Error(`${name} has no network: ${laid.stderr}`);
    await eventually(
      () => readdirSync(`/proc/${init}/root/run`).includes('up') || fail(`${name} is not up: ${this.#said(name)}`),
    );
  }

  isOn(name: string): boolean {
    return this.#running.has(name);
  }

  async powerOff(name: string): Promise<void> {
    const machine = this.#running.get(name);
    if (machine === undefined) return;
    this.#running.delete(name);
    const gone = new Promise((done) => machine.unshare.once('exit', done));
    process.kill(machine.init, 'SIGKILL');
    await gone;
  }

  /** A shell on the machine as root. */
  shell(name: string): ReaderShell {
    const machine = this.#running.get(name);
    if (machine === undefined) throw new Error(`${name} is off`);
    const into = ['nsenter', '-t', String(machine.init), '--net', '--mount', '--pid', '--uts', '--'];
    // The nats-server of a machine is where the page installs it, so the test's own path must not apply.
    return new ReaderShell({ HOME: '/etc', PATH, MILLRACE_NATS_SERVER: undefined }, into);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#names.map((name) => this.powerOff(name)));
    this.#switch?.kill('SIGKILL');
  }

  #said(name: string): string {
    return readFileSync(join(this.#dir, name, 'begun.log'), 'utf8');
  }

  #entered(): string[] {
    return ['nsenter', '-t', String(this.#switch?.pid), '--net', '--mount', '--'];
  }
}

function childOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const name = child && basename(readFileSync(`/proc/${child}/comm`, 'utf8').trim());
  return name === 'bash' ? Number(child) : fail('it has not begun');
}

function fail(why: string): never {
  throw new Error(why);
}
