/**
 * One specimen of every kind of button, link, row and badge in every state, and the contrast of its text as the
 * browser draws it.
 *
 *  SPM1 every kind, and every rule about a state, in the console's style sheets has a specimen
 *  SPM2 a state is forced through the browser's debugger, so that the rules are measured that a user sees
 */
import type { CDPSession, Page } from 'playwright-core';

export interface Measured {
  readonly specimen: string;
  readonly contrast: number;
  readonly background: string;
}

const BUTTONS = ['', 'primary', 'danger', 'primary danger', 'quiet', 'small', 'icon', 'quiet small', 'quiet icon'];
const TONES = ['', 'good', 'warn', 'bad', 'info', 'accent'];
const KEY_TYPES = [
  'string',
  'list',
  'set',
  'zset',
  'hash',
  'stream',
  'array',
  'vector',
  'search',
  'rejson-rl',
  'mbbloom--',
  'mbbloomcf',
  'cmsk-type',
  'topk-type',
  'tdis-type',
];

const one = (name: string, open: string, text: string, tag: string) =>
  `<${tag} data-specimen="${name}" ${open}>${text}</${tag}>`;

function buttons(place: string): string {
  return BUTTONS.flatMap((kind) => {
    const name = `${place} button ${kind}`.trim();
    const words = `type="button" class="button ${kind}"`;
    return [
      one(name, words, 'Text', 'button'),
      one(`${name}, disabled`, `${words} disabled`, 'Text', 'button'),
      one(`${name}, selected`, `${words} aria-pressed="true"`, 'Text', 'button'),
    ];
  }).join('');
}

const badges = (place: string) =>
  TONES.map((tone) => one(`${place} badge ${tone}`, `class="badge ${tone}"`, 'state', 'span')).join('');

const links = (place: string) =>
  one(`${place} link`, 'href="#a"', 'a link', 'a') +
  one(`${place} link-like button`, 'type="button" class="link"', 'a link', 'button');

const content = (place: string) =>
  `${buttons(place)}${badges(place)}${links(place)}<span class="muted small">muted</span>`;

const keyRow = (name: string, open: string) =>
  `<div class="key-row ${open}" data-specimen="${name}"><a href="#k" data-specimen="${name}, its link" ${open && 'aria-current="true"'}>name</a>
   ${KEY_TYPES.map((type) => `<span class="key-type of-${type}">${type}</span>`).join('')}<span class="key-ttl small muted">1 s</span></div>`;

/** The elements with text and states. */
const SPECIMENS = `<div id="specimens">
  <div>${content('page')}</div>
  <div class="card">${content('card')}</div>
  <dialog open>${content('dialog')}</dialog>
  ${TONES.map((tone) => `<p class="note ${tone}">text ${links(`note ${tone}`)}${one(`note ${tone} button`, 'type="button" class="button"', 'Text', 'button')}</p>`).join('')}
  <section class="table-box"><table><tbody>
    <tr data-specimen="row"><td>text ${content('row')}</td></tr>
    <tr data-specimen="row, selected" aria-selected="true"><td>text ${content('selected row')}</td></tr>
    <tr data-specimen="row, open" aria-current="true"><td>text ${content('open row')}</td></tr>
    <tr data-specimen="row of a message"><td><a class="message-name" href="#m" data-specimen="message"><span>id</span><span class="small muted">label</span></a></td></tr>
  </tbody></table></section>
  <div class="virtual-list"><ul>${keyRow('key row', '')}${keyRow('key row, selected', 'is-open')}
    <button type="button" class="key-row folder" data-specimen="folder">folder <span class="muted">3</span></button></ul></div>
  <aside class="side is-open"><nav><a href="#p" data-specimen="menu">Page</a>
    <a href="#q" aria-current="page" data-specimen="menu, selected">Page</a></nav></aside>
  <section class="filter-bar"><nav class="state-choice"><a href="#s1" data-specimen="state">Failed <span class="count">3</span></a>
    <a href="#s2" aria-current="page" data-specimen="state, selected">Failed <span class="count">3</span></a></nav>
    <button type="button" class="chip" data-specimen="chip"><span class="muted">Label</span> text</button>
    <div class="menu-panel"><p class="saved-filter"><a href="#f1" aria-current="true" data-specimen="saved filter, selected">name</a></p></div></section>
  <section class="drawer"><header class="drawer-head"><h2>title</h2>${content('drawer head')}</header>
    <div class="drawer-body">${content('drawer')}</div><footer class="drawer-foot"><kbd class="key">j</kbd> <span class="small muted">next</span></footer></section>
  <nav class="tabs"><a href="#t" data-specimen="tab">Tab <span class="count">3</span></a>
    <a href="#u" aria-current="page" data-specimen="tab, selected">Tab <span class="count">3</span></a></nav>
  <div class="palette-list"><div role="option" data-specimen="option">text <span class="small muted">kind</span></div>
    <div role="option" aria-selected="true" data-specimen="option, selected">text <span class="small muted">kind</span></div></div>
  <a class="card figure-card" href="#f" data-specimen="figure"><span class="muted small">label</span><span class="figure">1</span></a>
  <div class="json-row" data-specimen="json row"><span class="json-name">name</span><span class="json-text">"text"</span>
    <span class="json-other">1</span><span class="json-object">{ 2 }</span><span class="json-actions">edit</span></div>
  <ol class="checklist plain-list"><li><button type="button" class="checklist-step" data-specimen="first step"><span class="checklist-mark">1</span>text</button></li>
    <li class="is-done"><button type="button" class="checklist-step" data-specimen="finished step"><span class="checklist-mark">2</span>text</button></li></ol>
  <div class="row-menu"><button type="button" data-specimen="menu item">Run</button><a href="#e" data-specimen="menu link">Edit</a>
    <button type="button" class="is-bad" data-specimen="menu item, dangerous">Delete</button></div>
  <span class="result-strip"><a class="result-cell good" href="#g" data-specimen="result"></a></span>
  <a class="flow-row STEP_RETRY" href="#w" data-specimen="step over time">step <span class="small muted">1 s</span><span class="flow-failed">2 attempts</span></a>
  <a class="flow-row STEP_SUCCESS" href="#x" aria-current="true" data-specimen="step over time, selected">step <span class="small muted">1 s</span></a>
  <div class="flow-step is-chosen" data-specimen="step, selected"><a href="#s" aria-current="true" data-specimen="step's link">step</a>
    <span class="small muted">1 s</span></div>
</div>`;

/** The states that the debugger forces, by name, with their pseudo-classes. */
export const FORCED: Readonly<Record<string, readonly string[]>> = {
  rest: [],
  hover: ['hover'],
  focus: ['focus', 'focus-visible'],
  active: ['hover', 'active'],
};

/** A script of the page: the contrast of each element with text against the backgrounds that are drawn below it. */
const MEASURE = `(() => {
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((part, at) => part * a + below[at] * (1 - a));
  const below = (element) => {
    if (element === null) return [255, 255, 255];
    const style = getComputedStyle(element);
    if (style.filter !== 'none') throw new Error('a filter changes colours of ' + element.className);
    const color = rgba(style.backgroundColor);
    return color[3] === 1 ? color.slice(0, 3) : over(color, below(element.parentElement));
  };
  const light = (color) => color
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const contrast = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  return [...document.querySelectorAll('#specimens *')].filter(hasText).map((element) => {
    const background = below(element);
    return {
      specimen: (element.closest('[data-specimen]')?.dataset.specimen ?? 'text') + ' (' + element.className + ')',
      contrast: contrast(over(rgba(getComputedStyle(element).color), background), background),
      background: background.map(Math.round).join(' '),
    };
  });
})()`;

/** A script of the page: the selectors of kinds and states without a specimen. */
const WITHOUT = `(() => {
  const DRAWN = /color|background|--face|opacity|outline/;
  const rules = (list) => [...list].flatMap((rule) => (rule.selectorText !== undefined ? (DRAWN.test(rule.style.cssText) ? [rule.selectorText] : []) : rule.cssRules ? rules(rule.cssRules) : []));
  const all = [...document.styleSheets].flatMap((sheet) => rules(sheet.cssRules)).flatMap((text) => text.split(','));
  const STATE = /:(hover|active|focus[a-z-]*)|\\[aria-(pressed|selected|current)|\\.is-(open|chosen)/;
  const KIND = /\\.(button|badge|note|key-type|link)(\\.|$)/;
  return [...new Set(all.map((text) => text.trim()))]
    .filter((text) => (STATE.test(text) || KIND.test(text)) && !/^\\.(skip|u-|uplot)|^:/.test(text))
    .filter((text) => document.querySelector(text.replace(/::?(hover|active|focus-visible|focus-within|focus|before|after)/g, '') || '*') === null);
})()`;

export async function showSpecimens(page: Page): Promise<void> {
  await page.evaluate((html) => {
    const { body } = (globalThis as unknown as { document: { body: { innerHTML: string } } }).document;
    body.innerHTML = html;
  }, SPECIMENS);
}

export function withoutSpecimen(page: Page): Promise<string[]> {
  return page.evaluate(WITHOUT);
}

/** @returns the contrast of every text with all specimens in this state */
export async function measured(page: Page, state: string): Promise<Measured[]> {
  const debug = await page.context().newCDPSession(page);
  await debug.send('DOM.enable');
  await debug.send('CSS.enable');
  for (const nodeId of await specimensOf(debug)) {
    await debug.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: [...(FORCED[state] ?? [])] });
  }
  const found = await page.evaluate<Measured[]>(MEASURE);
  await debug.detach();
  return found;
}

async function specimensOf(debug: CDPSession): Promise<readonly number[]> {
  const { root } = await debug.send('DOM.getDocument');
  const { nodeIds } = await debug.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: '[data-specimen]' });
  return nodeIds;
}
