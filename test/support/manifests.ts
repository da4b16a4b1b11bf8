/** Checks Kubernetes manifests: they are converted to TypeScript and compiled with the types of the Kubernetes API. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

/** The module of each API version in the package of types. */
const MODULES: Readonly<Record<string, string>> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'batch/v1': 'batch/v1',
  'networking.k8s.io/v1': 'networking/v1',
  'policy/v1': 'policy/v1',
};

/** @throws if a document is not YAML or has a duplicate key */
export function manifestsIn(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors}`);
    return document.toJS() as Manifest;
  });
}

/** @returns the errors of the compiler; empty if there are none */
export function misfitsOfApi(manifests: readonly Manifest[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-manifests-'));
  try {
    symlinkSync(resolve('node_modules'), join(dir, 'node_modules'));
    writeFileSync(join(dir, 'manifests.ts'), manifests.map(asTypeScript).join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
    const { stdout } = spawnSync(resolve('node_modules/.bin/tsc'), [...options, 'manifests.ts'], {
      cwd: dir,
      encoding: 'utf8',
    });
    return stdout;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function asTypeScript(manifest: Manifest, index: number): string {
  const { apiVersion, kind, metadata } = manifest;
  const from = MODULES[apiVersion];
  if (from === undefined) throw new Error(`${kind} ${metadata.name}: the types of ${apiVersion} are not in the list`);
  const type = `import('kubernetes-types/${from}').${kind}`;
  return `// ${kind} ${metadata.name}\nexport const manifest${index}: ${type} = ${JSON.stringify(manifest, null, 2)};`;
}
