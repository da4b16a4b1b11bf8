/**
 * Writes static files. Each has a brotli and a gzip copy where that is smaller, and `manifest.json` lists them: no other
 * file is served (src/edge/http/built-files.ts).
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const SMALL_BYTES = 512;

/**
 * @param {string} out their folder, which is replaced. @param {Map<string, Buffer>} files by path below it
 * @param {boolean} hasBrotli false: only gzip. The best brotli takes a second for each megabyte
 */
export async function writeBuilt(out, files, hasBrotli = true) {
  await rm(out, { recursive: true, force: true });
  const listed = {};
  for (const [name, bytes] of files) {
    await mkdir(dirname(join(out, name)), { recursive: true });
    await writeFile(join(out, name), bytes);
    listed[name] = [];
    if (bytes.length < SMALL_BYTES) continue;
    for (const [form, suffix, compressed] of forms(bytes, hasBrotli)) {
      if (compressed.length >= bytes.length) continue;
      await writeFile(join(out, name + suffix), compressed);
      listed[name].push(form);
    }
  }
  await writeFile(join(out, 'manifest.json'), JSON.stringify({ files: listed }));
}

function forms(bytes, hasBrotli) {
  const gzip = ['gzip', '.gz', gzipSync(bytes, { level: 9 })];
  if (!hasBrotli) return [gzip];
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } });
  return [
    ['br', '.br', brotli],
    gzip,
  ];
}
