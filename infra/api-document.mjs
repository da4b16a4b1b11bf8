/** The OpenAPI document, made from the compiled declarations of routes; no server runs. */
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import 'reflect-metadata';

const compiled = join(dirname(fileURLToPath(import.meta.url)), '../dist/src');
const load = (path) => import(pathToFileURL(join(compiled, path)).href);

/** @param {string} version of the program */
export async function apiDocument(version) {
  const [{ AREAS }, { MANAGEMENT_ROUTES }, { managementArea }, { openApiDocument }] = await Promise.all([
    load('edge/openapi/index.js'),
    load('edge/management/routes/index.js'),
    load('edge/management/openapi-route.js'),
    load('edge/http/openapi/document.js'),
  ]);
  const urls = { kv: 'http://kv', queue: 'http://queue' };
  return openApiDocument([...AREAS, managementArea(MANAGEMENT_ROUTES)], urls, version, ['js', 'python', 'go', 'sh']);
}
