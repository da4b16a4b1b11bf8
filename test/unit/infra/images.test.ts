/** The base images: the releases that the package names, by digest where an operator wants that. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { directoryOf } from '../../support/stand-hooks.js';

const DOCKERFILE = readFileSync('infra/Dockerfile', 'utf8');
const COMPOSE = readFileSync('infra/compose.yml', 'utf8');
const SINGLE = readFileSync('infra/compose.single.yml', 'utf8');
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** The arguments that name images, with their defaults. */
const IMAGES = new Map(
  [...DOCKERFILE.matchAll(/^ARG ([A-Z]+_IMAGE)=(\S+)$/gm)].map(([, name, image]) => [name, image]),
);
const BALANCER = 'haproxy:3.0-alpine';

describe('infra: the base images', () => {
  it('are arguments of the build, and no other image is used', () => {
    expect([...IMAGES.keys()]).to.deep.equal(['NODE_IMAGE', 'NATS_IMAGE']);
    const stages = [...DOCKERFILE.matchAll(/^FROM \S+ AS (\w+)$/gm)].map(([, name]) => name);
    for (const [, image] of DOCKERFILE.matchAll(/^FROM (\S+)/gm)) expect(image).to.match(/^\$\{[A-Z]+_IMAGE\}$/);
    for (const [, from] of DOCKERFILE.matchAll(/--from=(\S+)/g)) expect(stages).to.include(from);
  });

  it('are the same for a cluster and for a single node', () => {
    for (const [name, image] of IMAGES) {
      for (const file of [COMPOSE, SINGLE]) expect(file).to.include(`${name}: \${${name}:-${image}}`);
    }
    const images = [...COMPOSE.matchAll(/^ +image: (\S+)$/gm)].map(([, image]) => image);
    const balancer = `\${HAPROXY_IMAGE:-${BALANCER}}`;
    expect(images).to.deep.equal([`\${NATS_IMAGE:-${IMAGES.get('NATS_IMAGE')}}`, 'millrace', balancer]);
  });

  it('have the recommended release of Node.js', () => {
    const [, recommended] =
      /\| Node\.js \| (\d+) is recommended/.exec(readFileSync('docs/operations/versions.md', 'utf8')) ?? [];
    expect(IMAGES.get('NODE_IMAGE')).to.match(new RegExp(`^node:${recommended}-`));
  });

  it('get all files that the build reads, and no secret', () => {
    const copied = [...DOCKERFILE.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, from = '']) => from.split(' '));
    const rules = readFileSync('infra/Dockerfile.dockerignore', 'utf8').split('\n');
    expect(rules.flatMap((rule) => (rule.startsWith('!') ? [rule.slice(1)] : [])).sort()).to.deep.equal(copied.sort());
    for (const path of copied) expect(existsSync(path), path).to.equal(true);
    const { scripts, files } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: { build: string };
      files: string[];
    };
    const read = [...(scripts.build.match(/(?:infra|src)\/[\w.-]+/g) ?? []), ...files];
    const outside = read.map((path) => path.split('/')[0] ?? '').filter((first) => first !== 'dist');
    expect(copied).to.include.members([...new Set(outside)]);
    // The last matching rule counts.
    expect(rules.indexOf('infra/*.env')).to.be.above(rules.indexOf('!infra'));
    expect(rules.indexOf('infra/secrets')).to.be.above(rules.indexOf('!infra'));
  });

  describe('base images with digests', () => {
    const folder = directoryOf('each test');

    const pin = (docker: string) => {
      writeFileSync(join(folder.path, 'docker'), `#!/bin/sh\n${docker}\n`, { mode: 0o755 });
      return spawnSync('infra/pin-images.sh', {
        encoding: 'utf8',
        env: { PATH: `${folder.path}:${process.env.PATH}` },
      });
    };

    it('are printed as build arguments', () => {
      const { stdout, status } = pin(`echo ${DIGEST}`);
      expect(status).to.equal(0);
      const all = [...IMAGES, ['HAPROXY_IMAGE', BALANCER]];
      expect(stdout).to.equal(all.map(([name, image]) => `${name}=${image}@${DIGEST}\n`).join(''));
    });

    it('are not printed when one digest is not available', () => {
      for (const docker of ['exit 1', 'echo', `case $* in *nats*) exit 1;; esac; echo ${DIGEST}`]) {
        const { stdout, status } = pin(docker);
        expect(status, docker).not.to.equal(0);
        expect(stdout, docker).to.equal('');
      }
    });
  });
});
