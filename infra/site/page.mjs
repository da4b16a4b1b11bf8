/** The frame of every page of the site: header, navigation, outline, and links to the pages before and after it. */
import { posix } from 'node:path';
import { escaped } from './markdown.mjs';
import { NAVIGATION, PAGES } from './navigation.mjs';

const ICON_MOON = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z"/></svg>';
const ICON_MENU = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 6h16M4 12h16M4 18h16"/></svg>';
const ICON_FIND = '<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="11" cy="11" r="7"/><path d="m20 20-4-4"/></svg>';

/**
 * @param {object} site `version`; `isServed`, by the program; `assets`, addresses by name; `titleOf(path)`
 * @param {object} page `path`, `title`, `outline`, `content`; `root`, the address of the site's root. Default: relative
 */
export function framed(site, { path, title, outline, content, root = rootFrom(path) }) {
  const { version, assets, isServed } = site;
  const name = path === 'index' ? 'Millrace documentation' : `${title} · Millrace`;
  return `<!doctype html>
<html lang="en" data-root="${root}" data-index="${root}${assets.index}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(name)}</title>
<link rel="icon" href="${root}${assets.icon}" type="image/svg+xml">
<script src="${root}${assets.theme}"></script>
<link rel="stylesheet" href="${root}${assets.style}">
<script type="module" src="${root}${assets.script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
<header class="top">
<button type="button" class="tool menu" aria-controls="side" aria-expanded="false">${ICON_MENU}<span class="hidden">Menu</span></button>
<a class="brand" href="${root}index.html"><img src="${root}${assets.icon}" width="24" height="24" alt="">Millrace <span>docs</span></a>
<span class="version">${escaped(version)}</span>
<button type="button" class="tool find" aria-label="Search Ctrl K">${ICON_FIND}<span class="find-label">Search </span><kbd>Ctrl K</kbd></button>
${isServed ? '<a class="tool console" href="/console/">Console</a>' : ''}
<button type="button" class="tool theme">${ICON_MOON}<span class="hidden">Light or dark</span></button>
</header>
<div class="frame${path === 'index' ? ' home' : path.startsWith('api/') ? ' wide' : ''}">
<nav id="side" class="side" aria-label="Documentation">${sections(site, path, root)}</nav>
<main id="main" tabindex="-1"><article>
${content}
${neighbours(site, path, root)}
</article>${outlined(outline)}</main>
</div>
<dialog class="search" aria-label="Search">
<input type="search" placeholder="Search the documentation" aria-label="Search the documentation" autocomplete="off" spellcheck="false" maxlength="100">
<p class="found-none" role="status"></p>
<ul class="found" aria-label="Results"></ul>
</dialog>
</body>
</html>
`;
}

/** @param titleOf of a page by its path */
export function homeContent({ titleOf }) {
  const cards = NAVIGATION.map(({ name, about, groups }) => {
    const pages = groups.flatMap((group) => group.pages);
    const links = pages.slice(0, MAX_ON_CARD).map((path) => `<li>${link(path, titleOf(path), '')}</li>`);
    const more = pages.length > MAX_ON_CARD ? `<li class="muted">and ${pages.length - MAX_ON_CARD} more</li>` : '';
    return `<section class="card"><h2>${link(pages[0], name, '')}</h2><p>${escaped(about)}</p><ul>${links.join('')}${more}</ul></section>`;
  });
  return `<div class="hero"><h1>Millrace documentation</h1>
<p>A durable key-value store with the Redis commands, a queue that delivers HTTP requests, workflows, search indexes, and one journal
that stores every acknowledged change.</p>
<p class="starts"><a class="button primary" href="guide/first-hour.html">The first hour</a>
<a class="button" href="tutorials/shop.html">Build a shop</a> <a class="button" href="api/queue.html">HTTP API</a></p></div>
<div class="cards">${cards.join('\n')}</div>`;
}

const MAX_ON_CARD = 6;

function sections({ titleOf }, current, root) {
  return NAVIGATION.map(({ name, groups }) => {
    const isOpen = groups.some(({ pages }) => pages.includes(current));
    const lists = groups.map((group) => {
      const links = group.pages.map((path) => `<li>${link(path, titleOf(path), root, path === current)}</li>`);
      return `${group.name === undefined ? '' : `<p>${escaped(group.name)}</p>`}<ul>${links.join('')}</ul>`;
    });
    return `<details${isOpen || current === 'index' ? ' open' : ''}><summary>${escaped(name)}</summary>${lists.join('')}</details>`;
  }).join('\n');
}

function link(path, title, root, isCurrent = false) {
  return `<a href="${root}${path}.html"${isCurrent ? ' aria-current="page"' : ''}>${escaped(shortTitle(path, title))}</a>`;
}

/** In a list, the section says that a page is a recipe. */
function shortTitle(path, title) {
  if (path === 'about') return 'About Millrace';
  const rest = title.replace(/^(?:Quickstart|Recipe|API): /, '');
  return rest[0].toUpperCase() + rest.slice(1);
}

function outlined(outline) {
  if (outline.length < 2) return '';
  const links = outline.map(({ id, heading }) => `<li><a href="#${escaped(id)}">${escaped(heading)}</a></li>`);
  return `<aside class="outline"><nav aria-label="On this page"><p>On this page</p><ul>${links.join('')}</ul></nav></aside>`;
}

function neighbours({ titleOf }, path, root) {
  const at = PAGES.findIndex((page) => page.path === path);
  if (at < 0) return '';
  const [before, after] = [PAGES[at - 1], PAGES[at + 1]];
  const shown = (page, word) => page && `<a class="${word}" href="${root}${page.path}.html"><span>${word === 'previous' ? 'Previous' : 'Next'}</span>${escaped(titleOf(page.path))}</a>`;
  return `<nav class="neighbours" aria-label="Previous and next page">${shown(before, 'previous') ?? '<span></span>'}${shown(after, 'next') ?? ''}</nav>`;
}

function rootFrom(path) {
  const root = posix.relative(posix.dirname(path), '.');
  return root === '' ? '' : `${root}/`;
}
