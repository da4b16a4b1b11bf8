/**
 * Writes the names, versions and license texts of a bundle's packages into one file of dist/licenses, as the licenses
 * require.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const LICENSE = /^(licen[cs]e|copying|notice)/i;

/**
 * @param {string} name of the file
 * @param {object[]} metafiles as esbuild gives them
 */
export async function writeLicenses(name, metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) => Object.values(outputs).flatMap((output) => bundled(output.inputs)));
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []));
  const parts = joined(await Promise.all([...folders].sort().map((folder) => partOf(join(root, folder)))));
  await mkdir(join(root, 'dist/licenses'), { recursive: true });
  await writeFile(join(root, 'dist/licenses', name), parts.join(`\n${'-'.repeat(80)}\n\n`));
}

/** The files with bytes in the output: esbuild also lists files that it dropped. */
function bundled(inputs) {
  return Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
}

async function partOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((file) => LICENSE.test(file)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return { name: `${name} ${version} (${license})\n`, text: texts.map((text) => `${text.trim()}\n`).join('\n') };
}

/** Packages with the same text have it once: a third of the file is left. */
function joined(parts) {
  const namesByText = new Map();
  for (const { name, text } of parts) namesByText.set(text, [...(namesByText.get(text) ?? []), name]);
  return [...namesByText].map(([text, names]) => [names.join(''), text].join('\n'));
}
