/** The Helm chart and the Kustomize base, rendered by helm and kubectl, and compared with the API of Kubernetes. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../../../src/config/index.js';
import { type Manifest, misfitsOfApi } from '../../support/manifests.js';

const TOOLS = '.tools/helm';
const CHART = 'infra/helm';

interface ConfigMap extends Manifest {
  readonly data: Readonly<Record<string, string>>;
}

describe('infra: the chart', function () {
  this.timeout(60_000);

  before(function () {
    const fetched = spawnSync('infra/fetch-helm.sh', { encoding: 'utf8' });
    if (existsSync(join(TOOLS, 'helm'))) return;
    console.log(`    ${fetched.stdout.trim()}`);
    this.skip();
  });

  const ran = (tool: 'helm' | 'kubectl', ...args: string[]) =>
    spawnSync(join(TOOLS, tool), args, { encoding: 'utf8', env: { ...process.env, HOME: tmpdir() } });
  const rendered = (...options: string[]): Manifest[] => {
    const { stdout, stderr, status } = ran('helm', 'template', 'millrace', CHART, ...options);
    expect(status, stderr).to.equal(0);
    return manifestsOf(stdout);
  };
  const named = (manifests: readonly Manifest[], kind: string, name: string) =>
    manifests.find((one) => one.kind === kind && one.metadata.name === name);

  it('is accepted by helm lint, and renders manifests of the Kubernetes API', () => {
    expect(ran('helm', 'lint', '--strict', CHART).status).to.equal(0);
    expect(misfitsOfApi(rendered())).to.equal('');
  });

  it('creates the passwords of NATS and the seal key, which an uninstallation keeps', () => {
    const manifests = rendered();
    for (const [name, keys] of [
      ['millrace-nats', ['app', 'cluster', 'sys']],
      ['millrace-seal-key', ['seal.key']],
    ] as const) {
      const secret = named(manifests, 'Secret', name) as ConfigMap;
      expect(Object.keys(secret.data).sort()).to.deep.equal(keys);
      expect(secret.metadata).to.have.nested.property('annotations.helm\\.sh/resource-policy', 'keep');
    }
    const passwords = Object.values((named(manifests, 'Secret', 'millrace-nats') as ConfigMap).data);
    for (const password of passwords) expect(Buffer.from(password, 'base64').toString()).to.match(/^s\w{32}$/);
    const seal = (named(manifests, 'Secret', 'millrace-seal-key') as ConfigMap).data['seal.key'] ?? '';
    expect(Buffer.from(Buffer.from(seal, 'base64').toString(), 'base64')).to.have.length(32);
  });

  it('gives NATS the files of infra/nats', () => {
    const { data } = named(rendered(), 'ConfigMap', 'millrace-nats') as ConfigMap;
    expect(data['common.conf']?.trim()).to.equal(readFileSync('infra/nats/common.conf', 'utf8').trim());
    expect(data).to.include.keys('node-1.conf', 'node-2.conf', 'node-3.conf', 'accounts.conf', 'tls.conf');
  });

  it('sets the image, the number of processes, the storage and the settings that are given', () => {
    const values = ['image=registry.example/millrace:1', 'owner.replicas=5', 'nats.storageClass=fast'];
    const manifests = rendered(
      ...values.flatMap((value) => ['--set', value]),
      ...['--set-string', 'settings.MILLRACE_SHUTDOWN_MS=20000'],
    );
    const owner = named(manifests, 'Deployment', 'millrace-owner');
    expect(owner).to.have.nested.property('spec.replicas', 5);
    expect(owner).to.have.nested.property('spec.template.spec.containers[0].image', 'registry.example/millrace:1');
    const nats = named(manifests, 'StatefulSet', 'millrace-nats');
    expect(nats).to.have.nested.property('spec.volumeClaimTemplates[0].spec.storageClassName', 'fast');
    const { data } = named(manifests, 'ConfigMap', 'millrace') as ConfigMap;
    const { MILLRACE_SEAL_KEY_FILE, NODE_OPTIONS, ...settings } = data;
    expect([MILLRACE_SEAL_KEY_FILE, NODE_OPTIONS]).to.not.include(undefined);
    const passwords = { MILLRACE_NATS_PASSWORD: 'a', MILLRACE_NATS_SYS_PASSWORD: 'b' };
    expect(loadConfig({ ...settings, ...passwords, MILLRACE_ROLES: 'edge' }).config.process.shutdownMs).to.equal(
      20_000,
    );
  });

  it('refuses unknown values, wrong types and names that are no settings', () => {
    for (const [value, error] of [
      ['replica=3', /replica/],
      ['edge.replicas=0', /replicas/],
      ['nats.storage=much', /storage/],
      ['settings.LOG_LEVEL=debug', /LOG_LEVEL/],
    ] as const) {
      const { status, stderr } = ran('helm', 'template', 'millrace', CHART, '--set', value);
      expect(status, value).to.not.equal(0);
      expect(stderr).to.match(error);
    }
  });

  it('renders the manifests of infra/kubernetes (make manifests)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-manifests-'));
    try {
      expect(spawnSync('infra/write-manifests.sh', [folder], { encoding: 'utf8' }).stderr).to.equal('');
      for (const file of ['nats.yaml', 'millrace.yaml']) {
        const stored = readFileSync(join('infra/kubernetes', file), 'utf8');
        expect(readFileSync(join(folder, file), 'utf8')).to.equal(stored);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is the same as the Kustomize base, in the namespace millrace', () => {
    const built = ran('kubectl', 'kustomize', 'infra/kubernetes');
    expect(built.status, built.stderr).to.equal(0);
    const base = manifestsOf(built.stdout);
    const namesOf = (manifests: readonly Manifest[]) =>
      manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
    const existing = ['--set', 'create.secrets=false,create.natsFiles=false'];
    expect(namesOf(base)).to.deep.equal(namesOf(rendered(...existing)));
    for (const { metadata } of base) expect(metadata).to.have.property('namespace', 'millrace');
    expect(misfitsOfApi(base)).to.equal('');
  });
});

function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}
