/** What an operator deploys with, as far as it can be judged without deploying: Kubernetes, systemd, balancers. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig, SETTINGS } from '../../../src/config/index.js';
import { type Manifest, manifestsIn, misfitsOfApi } from '../../support/manifests.js';
import { selfSignedCertificate } from '../../support/self-signed-certificate.js';

const FOLDER = 'infra/kubernetes';
const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name));
const UNITS = readdirSync('infra/systemd').map((name) => join('infra/systemd', name));
/** Only root may write where the package says. */
const NGINX_WRITES = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
/** By `systemd-analyze security`: 1.3 with Debian 12's, and something for what a later one asks besides. */
const MAX_EXPOSURE = 1.5;
/** A process ends within it, in order or not. */
const SHUTDOWN_S = loadConfig({}).config.process.shutdownMs / 1000;

interface Container {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts?: readonly { readonly name: string }[];
  readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly [probe: `${string}Probe`]: { readonly httpGet?: { readonly path: string } } | undefined;
}
interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly volumes?: readonly { readonly name: string }[];
  readonly containers: readonly Container[];
}
type Labels = Readonly<Record<string, string>>;
interface Named {
  readonly metadata: { readonly name: string };
}

const podOf = (manifest: Manifest): Pod => (manifest.spec as { template: { spec: Pod } }).template.spec;
const seconds = (text = '') => Number(/^(\d+)s?$/.exec(text)?.[1]);

describe('infra: manifests of Kubernetes', () => {
  const manifests = FILES.flatMap(manifestsIn);
  const ofKind = (...kinds: string[]) => manifests.filter(({ kind }) => kinds.includes(kind));
  const running = ofKind('Deployment', 'StatefulSet');

  it('are what its API describes', function () {
    this.timeout(20_000);
    expect(misfitsOfApi(manifests)).to.equal('');
    const broken = manifests.map((each) =>
      each.kind === 'Deployment' ? { ...each, spec: { replicas: 'two' } } : each,
    );
    expect(misfitsOfApi(broken)).to.contain('error');
  });

  it('are one StatefulSet for NATS and a Deployment for each role, each with a budget for disruptions', () => {
    const names = running.map(({ metadata }) => metadata.name);
    expect(names.sort()).to.deep.equal(['millrace-edge', 'millrace-nats', 'millrace-owner', 'millrace-projection']);
    const budgets = ofKind('PodDisruptionBudget');
    expect(budgets.map(({ metadata }) => metadata.name).sort()).to.deep.equal(names);
    for (const { spec } of budgets) expect((spec as { maxUnavailable: number }).maxUnavailable).to.equal(1);
    const roles = ofKind('Deployment').flatMap((each) =>
      settingOf(podOf(each).containers, 'MILLRACE_ROLES').split(','),
    );
    expect(roles.sort()).to.deep.equal(['edge', 'kv', 'projection', 'queue']);
  });

  it('choose pods that there are, by labels that these have, and mount what these have', () => {
    const pods = [...running, ...ofKind('Job')].map((each) => {
      const { template } = each.spec as { template: { metadata: { labels: Labels }; spec: Pod } };
      return { name: each.metadata.name, labels: template.metadata.labels, ...template.spec };
    });
    const chosen = (selector: Labels) =>
      pods.filter(({ labels }) => Object.entries(selector).every(([label, value]) => labels[label] === value));
    for (const { kind, metadata, spec } of [...running, ...ofKind('PodDisruptionBudget')]) {
      const { matchLabels } = (spec as { selector: { matchLabels: Labels } }).selector;
      expect(
        chosen(matchLabels).map(({ name }) => name),
        `${kind} ${metadata.name}`,
      ).to.deep.equal([metadata.name]);
    }
    for (const { metadata, spec } of ofKind('Service')) {
      expect(chosen((spec as { selector: Labels }).selector), metadata.name).to.have.lengthOf(1);
    }
    for (const { name, volumes = [], containers } of pods) {
      const claimed = running.find(({ metadata }) => metadata.name === name)?.spec as {
        volumeClaimTemplates?: Named[];
      };
      const there = [...volumes, ...(claimed?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata)];
      const mounted = containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map((mount) => mount.name));
      expect(
        there.map((volume) => volume?.name),
        name,
      ).to.include.members(mounted);
    }
  });

  it('ask of a process that lives, and whether it takes requests or serves what it has', () => {
    for (const each of ofKind('Deployment')) {
      const [{ livenessProbe, startupProbe, readinessProbe } = { name: '' } as Container] = podOf(each).containers;
      const isEdge = each.metadata.name.endsWith('edge');
      expect(startupProbe?.httpGet?.path).to.equal('/livez');
      expect(livenessProbe?.httpGet?.path).to.equal('/livez');
      expect(readinessProbe?.httpGet?.path).to.equal(isEdge ? '/readyz/edge' : '/readyz');
    }
  });

  it('give processes more time to end than they take, after what comes before their signal', () => {
    for (const each of ofKind('Deployment')) {
      const { terminationGracePeriodSeconds = 0, containers } = podOf(each);
      const [program, before] = containers[0]?.lifecycle?.preStop.exec.command ?? [];
      expect(program).to.equal('sleep');
      expect(terminationGracePeriodSeconds).to.be.above(SHUTDOWN_S + Number(before));
    }
  });

  it('bound memory, at twice the heap or more', () => {
    const [{ data }] = ofKind('ConfigMap') as [{ data: Record<string, string> } & Manifest];
    const heapMb = /--max-old-space-size=(\d+)/.exec(data.NODE_OPTIONS ?? '')?.[1];
    for (const each of running) {
      const gib = /^(\d+)Gi$/.exec(podOf(each).containers[0]?.resources?.limits?.memory ?? '')?.[1];
      expect(Number(gib) * 1024, each.metadata.name).to.be.at.least(2 * Number(heapMb));
    }
  });

  it('hold no secret: they name where it is', () => {
    const env = [...running, ...ofKind('Job')].flatMap((each) => podOf(each).containers.flatMap(({ env = [] }) => env));
    const secret = env.filter(({ name }) => /PASSWORD|TOKEN|KEY|SECRET/.test(name));
    expect(secret).to.have.length.above(8);
    expect(secret.filter(({ value }) => value !== undefined)).to.deep.equal([]);
  });

  it('name settings that there are', () => {
    const known = new Set<string>(SETTINGS.map(({ variable }) => variable));
    const composed = readdirSync('infra').flatMap((name) =>
      /^compose\..*yml$/.test(name) ? [join('infra', name)] : [],
    );
    expect(composed).to.have.lengthOf(2);
    const files = [...FILES, ...UNITS, ...composed];
    const named = files.flatMap((file) => readFileSync(file, 'utf8').match(/\bMILLRACE_[A-Z_]+\b/g) ?? []);
    expect(named.filter((name) => !known.has(name))).to.deep.equal([]);
  });
});

describe('infra: units of systemd', () => {
  const textOf = (file: string) => readFileSync(file, 'utf8');
  const analyzed = (...args: string[]) => {
    const result = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    if (result.error === undefined) return result;
    console.log('    there is no systemd-analyze here: the units are not looked at');
    return undefined;
  };

  it('are what systemd reads', function () {
    const dir = mkdtempSync(join(tmpdir(), 'millrace-units-'));
    try {
      // What they run need not be installed here.
      const copies = UNITS.map((file) => {
        const copy = join(dir, file.split('/').at(-1) ?? '');
        writeFileSync(copy, textOf(file).replace(/^(ExecStart=)\S+/m, '$1/bin/true'));
        return copy;
      });
      const verified = analyzed('verify', ...copies) ?? this.skip();
      expect(`${verified.stdout}${verified.stderr}`).to.equal('');
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('leave as little open as a service with a network can: an exposure of 1.5 of 10, or less', function () {
    for (const unit of UNITS) {
      const judged = analyzed('security', '--offline=yes', `--threshold=${MAX_EXPOSURE * 10}`, unit) ?? this.skip();
      expect(judged.status, `${judged.stdout}${judged.stderr}`).to.equal(0);
      expect(judged.stdout).to.match(/^→ Overall exposure level for \S+: \d\.\d /m);
    }
  });

  it('start again whatever ends, for ever, and give it more time to end than it takes', () => {
    for (const unit of UNITS) {
      expect(textOf(unit), unit).to.match(/^Restart=always$/m);
      expect(textOf(unit), unit).to.match(/^StartLimitIntervalSec=0$/m);
      expect(seconds(/^TimeoutStopSec=(\d+)$/m.exec(textOf(unit))?.[1]), unit).to.be.above(SHUTDOWN_S);
    }
  });
});

describe('infra: balancers', () => {
  const text = (file: string) => readFileSync(join('infra/balancer', file), 'utf8');

  it('haproxy reads its file', function () {
    const dir = mkdtempSync(join(tmpdir(), 'millrace-balancer-'));
    try {
      const file = join(dir, 'haproxy.cfg');
      // Names that are known nowhere but at an operator's.
      writeFileSync(file, text('haproxy.cfg').replaceAll(/ millrace-(\d):/g, ' 127.0.0.$1:'));
      const checked = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' });
      if (checked.error !== undefined) {
        console.log('    there is no haproxy here: its file is not read');
        this.skip();
      }
      expect(checked.stderr).to.not.match(/ALERT|WARNING/);
      expect(checked.status).to.equal(0);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('nginx reads its file', async function () {
    const dir = mkdtempSync(join(tmpdir(), 'millrace-balancer-'));
    try {
      const { key, certificate } = await selfSignedCertificate();
      writeFileSync(join(dir, 'millrace.pem'), certificate);
      writeFileSync(join(dir, 'millrace.key'), key);
      const file = join(dir, 'nginx.conf');
      const here = text('nginx.conf')
        .replaceAll(/ millrace-(\d):/g, ' 127.0.0.$1:')
        .replaceAll('/etc/nginx/millrace', join(dir, 'millrace'))
        .replace(
          /^http \{$/m,
          `http { access_log off; ${NGINX_WRITES.map((what) => `${what}_temp_path ${dir};`).join(' ')}`,
        );
      writeFileSync(file, `pid ${dir}/nginx.pid;\n${here}`);
      const checked = spawnSync('nginx', ['-t', '-q', '-e', 'stderr', '-c', file], { encoding: 'utf8' });
      if (checked.error !== undefined || checked.stderr.includes('unknown directive "stream"')) {
        console.log('    there is no nginx with streams here: its file is not read');
        this.skip();
      }
      expect(checked.stderr).to.equal('');
      expect(checked.status).to.equal(0);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('try nothing a second time that may have been executed', () => {
    expect(text('haproxy.cfg').match(/^ *retry-on .*$/gm)).to.deep.equal(['  retry-on conn-failure']);
    expect(text('nginx.conf').match(/^ *proxy_next_upstream\b.*$/gm)).to.deep.equal(['  proxy_next_upstream off;']);
  });
});

function settingOf(containers: readonly Container[], name: string): string {
  return containers[0]?.env?.find((each) => each.name === name)?.value ?? '';
}
