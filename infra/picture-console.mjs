/**
 * Takes the pictures of the console that the README shows: make pictures
 *
 * It starts `millrace demo`, which has something to show, signs in, and saves three pages below docs/images.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const images = join(root, 'docs/images');
const KEY = 'mrk_a-key-for-the-pictures';
const EMAIL = 'admin@localhost.localdomain';
/** Each is in the repository, for ever. */
const MAX_BYTES = 200 * 1024;
/** Each page's name, its address, its theme, and the steps before the screenshot. */
const PAGES = [
  ['overview', () => '/console/', 'light', counted],
  ['data', dataPath, 'dark', keyShown],
  ['run', () => '/console/workflows', 'light', runShown],
];

const demo = spawn(process.execPath, [join(root, 'dist/src/cli/main.js'), 'demo'], {
  env: { ...process.env, MILLRACE_MGMT_KEY: KEY },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await readyUrl(demo.stdout);
  mkdirSync(images, { recursive: true });
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  for (const [name, path, colorScheme, prepare] of PAGES) await picture(browser, { url, name, path, colorScheme, prepare });
  await browser.close();
} finally {
  demo.kill('SIGTERM');
}

/** The management port: the demo prints it once all its data is there. */
function readyUrl(stdout) {
  return new Promise((found, failed) => {
    const lines = createInterface({ input: stdout });
    lines.on('line', (line) => {
      const url = /^ready .*mgmt=(\S+)/.exec(line)?.[1];
      if (url !== undefined) found(url);
    });
    lines.on('close', () => failed(new Error('the demo ended before it was ready')));
  });
}

async function picture(browser, { url, name, path, colorScheme, prepare }) {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme })).newPage();
  await page.goto(`${url}/console/`);
  await page.getByLabel('E-mail').fill(EMAIL);
  await page.getByLabel('Management key').fill(KEY);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#main h1').waitFor();
  await page.goto(url + (await path(page)));
  await prepare(page);
  await page.waitForLoadState('networkidle').catch(() => {});
  const file = join(images, `console-${name}.png`);
  await page.screenshot({ path: file });
  const { size } = statSync(file);
  if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, and may have ${MAX_BYTES}`);
  await page.context().close();
}

/** Waits until the statistics contain the demo's data: the read models are a second or two late. */
async function counted(page) {
  const keys = page.getByRole('link', { name: /^Keys/ });
  await keys.waitFor();
  while (/^Keys0/.test((await keys.textContent()) ?? '')) {
    await page.reload();
    await keys.waitFor();
  }
  await page.locator('canvas').first().waitFor();
}

async function dataPath(page) {
  const databases = await page.evaluate(async () => (await fetch('/v2/kv/databases?credentials=hide')).json());
  return `/console/databases/${databases[0].database_id}?tab=data&key=scores`;
}

async function keyShown(page) {
  await page.locator('#main table').first().waitFor();
}

async function runShown(page) {
  await page.locator('#main a[href^="/console/workflows/"]').first().click();
  await page.locator('#main svg, #main .bars').first().waitFor();
}
