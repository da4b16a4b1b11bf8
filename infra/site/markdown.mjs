/**
 * Markdown of the pages as HTML that a strict content security policy allows: no inline styles or scripts.
 *
 *  - Headings have the ids that code hosts give them, so links work in both places.
 *  - Links to pages lead to their HTML; a link to a file of `docs` leads to its copy, other files have no link.
 *  - `<!-- tabs -->` … `<!-- /tabs -->` around code blocks makes tabs of them, one for each language.
 *  - A drawing of a concept is part of the page, so it has the page's colours.
 *
 * Every page's title, outline and text are collected for the outline and the search.
 */
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import MarkdownIt from 'markdown-it';
import { pageOf, RENAMED } from './navigation.mjs';

const { dirname, join, relative } = posix;
const DRAWINGS = /^docs\/images\/concept-.*\.svg$/;
const LANGUAGES = { js: 'JavaScript', ts: 'TypeScript', python: 'Python', go: 'Go', sh: 'Shell' };
/** Characters of a code block that the search knows. */
const SEARCHED_CODE = 300;

export class Pages {
  /** By path: title, outline, and the text of each section. */
  known = new Map();
  /** Files of `docs` that pages link to or show, by their path in the site. */
  files = new Map();
  markdown = new MarkdownIt({ html: true, linkify: false, typographer: false });

  constructor() {
    const { core, renderer } = this.markdown;
    core.ruler.push('page', (state) => this.#collect(state));
    renderer.rules.fence = (tokens, at) => this.#code(tokens[at]);
    renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>';
    renderer.rules.table_close = () => '</table></div>';
    renderer.rules.html_block = (tokens, at) => this.#comment(tokens[at].content.trim());
    renderer.rules.html_inline = (tokens, at) => this.#comment(tokens[at].content.trim());
    renderer.rules.image = (tokens, at, _options, env) => this.#image(tokens[at], env);
    renderer.rules.link_open = (tokens, at, options, _env, self) => {
      const target = tokens[at].attrGet('href');
      if (target === '') tokens[at].tag = 'span';
      if (target === '') tokens[at].attrs = null;
      return self.renderToken(tokens, at, options);
    };
    renderer.rules.link_close = (tokens, at) => (opened(tokens, at).tag === 'span' ? '</span>' : '</a>');
  }

  /** @param source its path from the root of the repository */
  #collect({ tokens, env }) {
    const source = sourceOf(env);
    const path = pageOf(source);
    const page = { path, title: '', outline: [], sections: [] };
    const ids = new Map();
    let section = { id: '', heading: '', text: [] };
    page.sections.push(section);
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'heading_open') {
        const heading = textOf(tokens[at + 1]);
        const id = uniqueId(heading, ids);
        token.attrSet('id', id);
        if (token.tag === 'h1') page.title = heading;
        else {
          if (token.tag === 'h2') page.outline.push({ id, heading });
          section = { id, heading, text: [] };
          page.sections.push(section);
        }
      } else if (token.type === 'inline') {
        this.#link(token.children, source);
        section.text.push(textOf(token));
      } else if (token.type === 'fence') section.text.push(token.content.slice(0, SEARCHED_CODE));
    }
    this.known.set(path, page);
  }

  #link(children, source) {
    for (const token of children) {
      if (token.type !== 'link_open') continue;
      const [target, anchor] = token.attrGet('href').split('#');
      if (target === '') continue;
      if (/^\w+:/.test(target)) token.attrSet('rel', 'noreferrer');
      else token.attrSet('href', this.#addressOf(join(dirname(source), target), source, anchor));
    }
  }

  /** Empty: the site has no such file. */
  #addressOf(file, source, anchor) {
    const from = dirname(pageOf(source));
    const suffix = anchor === undefined ? '' : `#${anchor}`;
    const isPage = file.endsWith('.md') && (file.startsWith('docs/') || file in RENAMED);
    if (isPage) return `${relative(from, pageOf(file))}.html${suffix}`;
    if (!file.startsWith('docs/') || !/\.\w+$/.test(file)) return '';
    const isPicture = /\.(svg|png)$/.test(file);
    // Programs are shown as text.
    const copy = `${file.replace(/^docs\//, '')}${isPicture ? '' : '.txt'}`;
    this.files.set(copy, readFileSync(file));
    return relative(from, copy);
  }

  #image(token, env) {
    const source = sourceOf(env);
    const file = join(dirname(source), token.attrGet('src'));
    const about = escaped(token.content);
    if (!existsSync(file)) throw new Error(`${source} shows ${file}, which does not exist`);
    if (!DRAWINGS.test(file)) return `<img src="${this.#addressOf(file, source)}" alt="${about}" loading="lazy">`;
    // Its style is for readers of the file alone: the site's style has the same classes.
    const drawing = readFileSync(file, 'utf8').replace(/<style>[\s\S]*?<\/style>/, '');
    return `<span class="drawing" tabindex="0" role="img" aria-label="${about}">${drawing}</span>`;
  }

  #comment(text) {
    if (text === '<!-- tabs -->') return '<div class="code-tabs">';
    if (text === '<!-- /tabs -->') return '</div>';
    if (/^<!--[\s\S]*-->$/.test(text)) return '';
    throw new Error(`a page has HTML, which the site does not show: ${text}`);
  }

  #code({ info, content }) {
    const [language = ''] = info.split(' ');
    const terminal = /\bterminal=(\S+)/.exec(info)?.[1];
    return codeBlock({ content, language, ...(terminal && { caption: `terminal: ${terminal}` }) });
  }
}

/** @param label of its tab. Default: the name of the language */
export function codeBlock({ content, language, caption, label = LANGUAGES[language] ?? '' }) {
  const head = caption === undefined ? '' : `<div class="caption">${escaped(caption)}</div>`;
  return `<div class="code" data-label="${escaped(label)}">${head}<pre tabindex="0"><code>${coloured(content, language)}</code></pre></div>\n`;
}

/** Comments and texts are marked, which is enough for examples that are mostly commands and their output. */
function coloured(content, language) {
  const comment = { sh: /(?<=^|\s)#[^\n]*/, python: /#[^\n]*/, js: /\/\/[^\n]*/, ts: /\/\/[^\n]*/, go: /\/\/[^\n]*/ }[language];
  if (comment === undefined) return escaped(content);
  const text = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/;
  const parts = new RegExp(`(?<text>${text.source})|(?<comment>${comment.source})`, 'gm');
  let html = '';
  let done = 0;
  for (const { 0: part, index, groups } of content.matchAll(parts)) {
    const kind = groups.comment === undefined ? 'text' : 'comment';
    html += `${escaped(content.slice(done, index))}<span class="c-${kind}">${escaped(part)}</span>`;
    done = index + part.length;
  }
  return html + escaped(content.slice(done));
}

export function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** As code hosts derive it from a heading. */
function uniqueId(heading, ids) {
  const base = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
  const count = ids.get(base) ?? 0;
  ids.set(base, count + 1);
  return count === 0 ? base : `${base}-${count}`;
}

function textOf({ children }) {
  return children
    .filter(({ type }) => ['text', 'code_inline', 'softbreak'].includes(type))
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('');
}

/** The link that a closing token closes. */
function opened(tokens, at) {
  return tokens.slice(0, at).findLast(({ type }) => type === 'link_open');
}

function sourceOf({ source, page }) {
  return source ?? posix.normalize(page.inputPath);
}
