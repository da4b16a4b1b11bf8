/** The parts of the site that need a program: search, theme, menu, tabs of languages, copying. Pages are readable without it. */
import MiniSearch from 'minisearch';
import { INDEX_OPTIONS } from './search-options.mjs';

const MAX_FOUND = 12;
const COPIED_MS = 1_500;
const LANGUAGE = 'millrace-language';
const { root = '', index: indexUrl = '' } = document.documentElement.dataset;

const one = (selector) => document.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

function stored(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(name);
    localStorage.setItem(name, value);
  } catch {
    // Without storage a choice lasts for one page.
  }
  return null;
}

function made(tag, properties, children = []) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Links to operations of earlier versions: /docs#/queue/post_v2_queues.
const [, area, operation] = /^#\/(\w+)(?:\/(\w+))?$/.exec(location.hash) ?? [];
if (area !== undefined) location.replace(`${root}api/${area}.html${operation ? `#${operation}` : ''}`);

one('.theme').addEventListener('click', () => {
  const { dataset } = document.documentElement;
  const isDark = dataset.theme === 'dark' || (!dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches);
  dataset.theme = isDark ? 'light' : 'dark';
  stored('millrace-theme', dataset.theme);
});

const side = one('.side');
const menu = one('.menu');
menu.addEventListener('click', () => {
  const isOpen = side.classList.toggle('is-open');
  menu.setAttribute('aria-expanded', String(isOpen));
});
const current = one('.side [aria-current]');
if (current) side.scrollTop = current.offsetTop - side.clientHeight / 2;

function addCopying(block) {
  const button = made('button', { type: 'button', className: 'copy', textContent: 'Copy' });
  button.addEventListener('click', async () => {
    const text = block.querySelector('code').textContent;
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else getSelection().selectAllChildren(block.querySelector('code'));
    button.textContent = navigator.clipboard ? 'Copied' : 'Selected';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, COPIED_MS);
  });
  block.append(button);
}

/** The language that is chosen in one place is shown in all of them. */
function addTabs(group) {
  const blocks = all(':scope > .code', group);
  const bar = made('div', { className: 'tab-bar', role: 'group', ariaLabel: 'Language' });
  for (const block of blocks) {
    const { label } = block.dataset;
    const button = made('button', { type: 'button', textContent: label });
    button.dataset.label = label;
    button.addEventListener('click', () => {
      stored(LANGUAGE, label);
      showLanguage(label);
    });
    bar.append(button);
  }
  group.prepend(bar);
  group.classList.add('has-bar');
}

function showLanguage(wanted) {
  for (const group of all('.code-tabs')) {
    const blocks = all(':scope > .code', group);
    const shown = blocks.find(({ dataset }) => dataset.label === wanted) ?? (group.dataset.isShown ? undefined : blocks[0]);
    if (shown === undefined) continue;
    group.dataset.isShown = 'true';
    for (const block of blocks) block.hidden = block !== shown;
    for (const button of all('.tab-bar button', group)) button.setAttribute('aria-pressed', String(button.dataset.label === shown.dataset.label));
  }
}

for (const block of all('.code')) addCopying(block);
for (const group of all('.code-tabs')) addTabs(group);
showLanguage(stored(LANGUAGE) ?? '');

const dialog = one('dialog.search');
const input = one('dialog.search input');
const list = one('.found');
const status = one('.found-none');
let loading;

/** Loaded with the first search. */
function loaded() {
  loading ??= fetch(indexUrl)
    .then((response) => response.text())
    .then((text) => MiniSearch.loadJSONAsync(text, INDEX_OPTIONS));
  return loading;
}

async function show() {
  const query = input.value.trim();
  const index = await loaded().catch(() => undefined);
  if (query !== input.value.trim()) return;
  if (index === undefined) {
    loading = undefined;
    status.textContent = 'The search could not be loaded. Is the server running?';
    return;
  }
  const found = query === '' ? [] : index.search(query).slice(0, MAX_FOUND);
  status.textContent = query === '' || found.length > 0 ? '' : `No section has “${query}”.`;
  list.replaceChildren(
    ...found.map(({ id, title, heading }) => {
      const name = made('strong', { textContent: heading || title });
      const place = made('span', { textContent: heading ? title : '' });
      return made('li', {}, [made('a', { href: root + id }, [name, place])]);
    }),
  );
}

function open() {
  if (dialog.open) return;
  dialog.showModal();
  input.select();
  void loaded().catch(() => {
    loading = undefined;
  });
}

one('.find').addEventListener('click', open);
input.addEventListener('input', () => void show());
list.addEventListener('click', ({ target }) => target.closest('a') && dialog.close());
dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
dialog.addEventListener('keydown', (event) => {
  const links = all('a', list);
  const at = links.indexOf(document.activeElement);
  if (event.key === 'Enter' && document.activeElement === input) links[0]?.click();
  else if (event.key === 'ArrowDown') (links[at + 1] ?? links[0])?.focus();
  else if (event.key === 'ArrowUp') (links[at - 1] ?? input).focus();
  else return;
  event.preventDefault();
});
addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
  const isAsked = ((event.ctrlKey || event.metaKey) && event.key === 'k') || (event.key === '/' && !isTyping);
  if (!isAsked) return;
  event.preventDefault();
  open();
});

// A link to results: /docs/?q=words.
const asked = new URLSearchParams(location.search).get('q');
if (asked) {
  input.value = asked;
  open();
  void show();
}
