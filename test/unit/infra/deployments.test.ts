/** The files for a deployment, as far as they can be checked without one: Kubernetes, systemd, balancers. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig, SETTINGS } from '../../../src/config/index.js';
import { missingProgram } from '../../support/installed.js';
import { type Manifest, manifestsIn, misfitsOfApi } from '../../support/manifests.js';
import { selfSignedCertificate } from '../../support/self-signed-certificate.js';

const FOLDER = 'infra/kubernetes';
const FILES = ['nats.yaml', 'millrace.yaml'].map((name) => join(FOLDER, name));
const UNITS = readdirSync('infra/systemd').map((name) => join('infra/systemd', name));
/** Paths that only root may write. */
const NGINX_WRITES = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
/** The exposure that `systemd-analyze security` reports: 1.3 with Debian 12, and some more for checks of later versions. */
const MAX_EXPOSURE = 1.5;
/** The time within which a process ends in any case. */
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

describe('infra: Kubernetes manifests', () => {
  const manifests = FILES.flatMap(manifestsIn);
  const ofKind = (...kinds: string[]) => manifests.filter(({ kind }) => kinds.includes(kind));
  const running = ofKind('Deployment', 'StatefulSet');

  it('match the Kubernetes API', () => {
    expect(misfitsOfApi(manifests)).to.equal('');
    const broken = manifests.map((each) =>
      each.kind === 'Deployment' ? { ...each, spec: { replicas: 'two' } } : each,
    );
    expect(misfitsOfApi(broken)).to.contain('error');
  });

  it('are one StatefulSet for NATS and a Deployment for each role, each with a disruption budget', () => {
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

  it('select existing pods by their labels, and mount existing volumes', () => {
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

  it('have liveness and readiness probes per role', () => {
    for (const each of ofKind('Deployment')) {
      const [{ livenessProbe, startupProbe, readinessProbe } = { name: '' } as Container] = podOf(each).containers;
      const isEdge = each.metadata.name.endsWith('edge');
      expect(startupProbe?.httpGet?.path).to.equal('/livez');
      expect(livenessProbe?.httpGet?.path).to.equal('/livez');
      expect(readinessProbe?.httpGet?.path).to.equal(isEdge ? '/readyz/edge' : '/readyz');
    }
  });

  it('give processes more time to end than they need, including the preStop time', () => {
    for (const each of ofKind('Deployment')) {
      const { terminationGracePeriodSeconds = 0, containers } = podOf(each);
      const [program, before] = containers[0]?.lifecycle?.preStop.exec.command ?? [];
      expect(program).to.equal('sleep');
      expect(terminationGracePeriodSeconds).to.be.above(SHUTDOWN_S + Number(before));
    }
  });

  it('limit memory to at least twice the heap size', () => {
    const [{ data }] = ofKind('ConfigMap') as [{ data: Record<string, string> } & Manifest];
    const heapMb = /--max-old-space-size=(\d+)/.exec(data.NODE_OPTIONS ?? '')?.[1];
    for (const each of running) {
      const gib = /^(\d+)Gi$/.exec(podOf(each).containers[0]?.resources?.limits?.memory ?? '')?.[1];
      expect(Number(gib) * 1024, each.metadata.name).to.be.at.least(2 * Number(heapMb));
    }
  });

  it('contain no secret, only references', () => {
    const env = [...running, ...ofKind('Job')].flatMap((each) => podOf(each).containers.flatMap(({ env = [] }) => env));
    const secret = env.filter(({ name }) => /PASSWORD|TOKEN|KEY|SECRET/.test(name));
    expect(secret).to.have.length.above(8);
    expect(secret.filter(({ value }) => value !== undefined)).to.deep.equal([]);
  });

  it('name existing settings', () => {
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

describe('infra: systemd units', () => {
  const textOf = (file: string) => readFileSync(file, 'utf8');
  const analyzed = (...args: string[]) => {
    const env = { ...process.env, LC_ALL: 'C.UTF-8', SYSTEMD_LOG_LEVEL: 'warning' };
    const result = spawnSync('systemd-analyze', args, { encoding: 'utf8', env });
    if (result.error === undefined && !/unrecognized option|Unknown command/.test(result.stderr)) return result;
    console.log('    no systemd-analyze, or one that is too old: the units are not checked');
    return undefined;
  };

  it('are valid for systemd', function () {
    const dir = mkdtempSync(join(tmpdir(), 'millrace-units-'));
    try {
      // Replaces the programs of the units, which need not be installed here.
      const copies = UNITS.map((file) => {
        const copy = join(dir, file.split('/').at(-1) ?? '');
        writeFileSync(copy, textOf(file).replace(/^(ExecStart=)\S+/m, '$1/bin/true'));
        return copy;
      });
      const verified = analyzed('verify', ...copies) ?? this.skip();
      // systemd-analyze also reads units of the machine and reports their problems.
      const ours = `${verified.stdout}${verified.stderr}`.split('\n').filter((line) => line.includes('millrace'));
      expect(ours).to.deep.equal([]);
      expect(verified.status).to.equal(0);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('have an exposure of at most 1.5 of 10', function () {
    for (const unit of UNITS) {
      const judged = analyzed('security', '--offline=yes', `--threshold=${MAX_EXPOSURE * 10}`, unit) ?? this.skip();
      expect(judged.status, `${judged.stdout}${judged.stderr}`).to.equal(0);
    }
  });

  it('restart a process always, and give it more time to end than it needs', () => {
    for (const unit of UNITS) {
      expect(textOf(unit), unit).to.match(/^Restart=always$/m);
      expect(textOf(unit), unit).to.match(/^StartLimitIntervalSec=0$/m);
      expect(seconds(/^TimeoutStopSec=(\d+)$/m.exec(textOf(unit))?.[1]), unit).to.be.above(SHUTDOWN_S);
    }
  });
});

/** In Debian 11. */
const OLDEST_HAPROXY = 2.2;
/** The modules that the file needs, and `-e`, which exists since 1.19.5. */
const LACKS_OF_NGINX = /unknown directive "stream"|requires ngx_\w+_module|invalid option: "e"/;

describe('infra: balancers', () => {
  const text = (file: string) => readFileSync(join('infra/balancer', file), 'utf8');

  it('haproxy accepts its file', function () {
    const dir = mkdtempSync(join(tmpdir(), 'millrace-balancer-'));
    try {
      const file = join(dir, 'haproxy.cfg');
      // The host names exist only in the operator's network.
      writeFileSync(file, text('haproxy.cfg').replaceAll(/ millrace-(\d):/g, ' 127.0.0.$1:'));
      const [, version] = /version (\d+\.\d+)/.exec(spawnSync('haproxy', ['-v'], { encoding: 'utf8' }).stdout) ?? [];
      if (version === undefined || Number(version) < OLDEST_HAPROXY) {
        console.log(`    no haproxy from ${OLDEST_HAPROXY} on: its file is not read`);
        this.skip();
      }
      const checked = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' });
      expect(checked.stderr).to.not.match(/\[(ALERT|WARNING)\]/);
      expect(checked.status).to.equal(0);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('the balancer of `make up` has the file of haproxy, with other addresses and a health page', () => {
    const { stdout } = spawnSync('infra/local-cluster.sh', ['balancer-config'], {
      encoding: 'utf8',
      env: { ...process.env, MILLRACE_CLUSTER_HTTP_PORT: '17100', MILLRACE_CLUSTER_DIR: tmpdir() },
    });
    const withoutAddresses = (file: string) =>
      file
        .replaceAll(/^( {2}bind) .*$/gm, '$1')
        .replaceAll(/^( {2}server millrace-\d) \S+/gm, '$1')
        .replaceAll(/ check port \d+$/gm, ' check');
    const [balancer = '', health = ''] = stdout.split('\nfrontend health\n');
    expect(withoutAddresses(balancer)).to.equal(withoutAddresses(text('haproxy.cfg')));
    expect(health).to.match(/^ {2}bind 127\.0\.0\.1:17204\n/);
    const addresses = [...balancer.matchAll(/^ {2}(?:bind|server millrace-\d) (\S+)/gm)].map(([, address]) => address);
    const faces = [0, 1, 2, 3].flatMap((face) => [17200, 17100, 17110, 17120].map((first) => first + face));
    expect(addresses).to.deep.equal(faces.map((port) => `127.0.0.1:${port}`));
    expect([...balancer.matchAll(/ check port (\d+)$/gm)].map(([, port]) => port)).to.deep.equal([
      '17104',
      '17114',
      '17124',
    ]);
  });

  it('nginx accepts its file', async function () {
    if (missingProgram('nginx', 'openssl') !== undefined) this.skip();
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
      if (LACKS_OF_NGINX.test(checked.stderr)) {
        console.log('    this nginx is too old, or lacks streams or TLS: its file is not read');
        this.skip();
      }
      // Its modules may have more to say, at a lower level.
      expect(checked.stderr).to.not.match(/\[(warn|error|crit|alert|emerg)\]/);
      expect(checked.status, checked.stderr).to.equal(0);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('repeat no request that may have been executed', () => {
    expect(text('haproxy.cfg').match(/^ *retry-on .*$/gm)).to.deep.equal(['  retry-on conn-failure']);
    expect(text('nginx.conf').match(/^ *proxy_next_upstream\b.*$/gm)).to.deep.equal(['  proxy_next_upstream off;']);
  });
});

function settingOf(containers: readonly Container[], name: string): string {
  return containers[0]?.env?.find((each) => each.name === name)?.value ?? '';
}
