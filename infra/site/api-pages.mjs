/** The pages of the HTTP API, one for each area of the OpenAPI document. */
import { codeBlock, escaped } from './markdown.mjs';

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head'];
const TITLES = {
  kv: 'API: keys over REST',
  queue: 'API: queue and workflows',
  search: 'API: search indexes',
  management: 'API: management',
  operators: 'API: operators',
  monitoring: 'API: monitoring',
  health: 'API: health and metrics',
};
/** Nested members are listed to this depth. */
const MAX_DEPTH = 3;

export class ApiPages {
  /** By path: title, outline, and the text of each section, as of other pages. */
  known = new Map();
  #contents = new Map();

  constructor(document, address) {
    this.address = address;
    this.components = document.components;
    for (const { name, description } of document.tags) this.#page(document, name, description);
  }

  rendered() {
    return this.#contents;
  }

  #page({ paths }, tag, description) {
    const path = `api/${tag}`;
    const operations = Object.entries(paths).flatMap(([at, item]) =>
      METHODS.filter((method) => item[method]?.tags.includes(tag)).map((method) => ({ at, method, ...item[method] })),
    );
    const intro = { id: '', heading: '', text: [description] };
    const sections = operations.map(({ operationId: id, summary, description: details = '', at, parameters }) => ({
      id,
      heading: summary.replace(/\.$/, ''),
      text: [at, details, parameters.map(({ name }) => name).join(' ')],
    }));
    const title = TITLES[tag] ?? `API: ${tag}`;
    this.known.set(path, { path, title, outline: [], sections: [intro, ...sections] });
    const list = operations.map(
      (one) => `<tr><td>${badge(one.method)}</td><td><a href="#${one.operationId}"><code>${escaped(calledAt(one))}</code></a></td><td>${inline(one.summary)}</td></tr>`,
    );
    this.#contents.set(
      path,
      `<h1>${escaped(title)}</h1>
<p>${inline(description)} <a href="${this.address}">openapi.json</a> has the API for tools; the management port serves it at <code>/openapi.json</code>.</p>
<div class="table operations" tabindex="0"><table><thead><tr><th>method</th><th>path</th><th>effect</th></tr></thead><tbody>${list.join('')}</tbody></table></div>
${operations.map((one) => this.#operation(one)).join('\n')}`,
    );
  }

  #operation(operation) {
    const { operationId, summary, description, method, parameters, requestBody, responses } = operation;
    return `<section class="operation">
<h2 id="${operationId}">${inline(summary.replace(/\.$/, ''))}</h2>
<p class="call">${badge(method)} <code>${escaped(calledAt(operation))}</code></p>
${paragraphs(description)}${samplesOf(operation)}${this.#parameters(asCalled(operation, parameters))}${this.#body(requestBody)}${this.#responses(responses)}</section>`;
  }

  #parameters(parameters) {
    if (parameters.length === 0) return '';
    const rows = parameters.map(({ name, in: place, required, schema, description = schema.description ?? '' }) =>
      row([`<code>${escaped(name)}</code>`, place, this.#type(schema) + (required ? ', required' : ''), inline(description)]),
    );
    return `<h3>Parameters</h3>${table(['name', 'in', 'type', 'meaning'], rows)}`;
  }

  #body(body) {
    if (body === undefined) return '';
    const { description = '', required, content } = body;
    const [[type, { schema, example }]] = Object.entries(content);
    return `<h3>Body</h3><p>${required ? 'Required' : 'Optional'}, <code>${escaped(type)}</code>. ${inline(description)}</p>
${example === undefined ? '' : json(example)}${this.#fields(schema)}`;
  }

  #responses(responses) {
    const all = Object.entries(responses).map(([status, answer]) => [status, this.#resolved(answer)]);
    const successes = all.filter(([status]) => status.startsWith('2'));
    const failures = all.filter(([status]) => !status.startsWith('2'));
    const shown = successes.map(([status, { description, content = {} }]) => {
      const [[type, { schema, example, 'x-events': events }] = ['', { schema: {} }]] = Object.entries(content);
      const named = Object.entries(events ?? {}).map(([event, shape]) => `<p>Event <code>${escaped(event)}</code></p>${this.#fields(shape)}`);
      return `<p><b class="status good">${status}</b> ${inline(description)} <code>${escaped(type)}</code></p>${example === undefined ? '' : json(example)}${this.#fields(schema)}${named.join('')}`;
    });
    const rows = failures.map(([status, { description, content = {} }]) => {
      const text = content['application/json']?.example?.error ?? '';
      return row([`<b class="status${status === 'default' ? '' : ' bad'}">${status === 'default' ? 'others' : status}</b>`, inline(description), text === '' ? '' : `<code>${escaped(text)}</code>`]);
    });
    return `<h3>Answers</h3>${shown.join('')}${table(['status', 'meaning', 'example of the text'], rows)}`;
  }

  /** The members of an object, or of the objects of a list; empty for other values. */
  #fields(schema) {
    const rows = this.#rowsOf(schema, '', 0);
    if (rows.length === 0) return '';
    return `<details class="fields"><summary>${rows.length === 1 ? '1 field' : `${rows.length} fields`}</summary>${table(['name', 'type', 'meaning'], rows)}</details>`;
  }

  #rowsOf(given, before, depth) {
    const schema = this.#resolved(given);
    if (depth > MAX_DEPTH) return [];
    if (schema.type === 'array') return this.#rowsOf(schema.items ?? {}, before === '' ? '' : `${before}[]`, depth);
    for (const word of ['allOf', 'oneOf', 'anyOf']) {
      if (schema[word]) return schema[word].flatMap((part) => this.#rowsOf(part, before, depth + 1));
    }
    const { properties = {}, required = [] } = schema;
    return Object.entries(properties).flatMap(([name, member]) => {
      const whole = before === '' ? name : `${before}.${name}`;
      const { description = '' } = this.#resolved(member);
      const own = row([`<code>${escaped(whole)}</code>`, this.#type(member) + (required.includes(name) ? '' : ', optional'), inline(description)]);
      return [own, ...this.#rowsOf(member, whole, depth + 1)];
    });
  }

  #type(given) {
    const schema = this.#resolved(given);
    if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`;
    if (schema.enum !== undefined) return schema.enum.map((value) => `<code>${escaped(String(value))}</code>`).join(', ');
    for (const word of ['oneOf', 'anyOf']) if (schema[word]) return [...new Set(schema[word].map((part) => this.#type(part)))].join(' or ');
    if (schema.type === 'array') return `list of ${this.#type(schema.items ?? {})}`;
    const { type = 'any', minimum, maximum, maxLength } = schema;
    const name = Array.isArray(type) ? type.join(' or ') : type;
    const bounds = [minimum !== undefined && `at least ${minimum}`, maximum !== undefined && `at most ${maximum}`, maxLength !== undefined && `at most ${maxLength} characters`];
    return [escaped(name), ...bounds.filter(Boolean)].join(', ');
  }

  #resolved(part) {
    const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(part.$ref ?? '') ?? [];
    return kind === undefined ? part : this.components[kind][name];
  }
}

/** The path as it is called, where the document's path cannot show it. */
function calledAt({ at, 'x-calledAt': called = at }) {
  return called;
}

/** Parameters of the path with the names that it is shown with. */
function asCalled({ at, 'x-calledAt': called = at }, parameters) {
  const namesIn = (path) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const shown = new Map(namesIn(at).map((name, place) => [name, namesIn(called)[place]]));
  return parameters.map((one) => (one.in === 'path' ? { ...one, name: shown.get(one.name) ?? one.name } : one));
}

function samplesOf({ 'x-codeSamples': samples = [] }) {
  const blocks = samples.map(({ lang, label, source }) => codeBlock({ content: source, language: lang, label }));
  return blocks.length === 0 ? '' : `<div class="code-tabs">${blocks.join('')}</div>`;
}

function badge(method) {
  return `<b class="method ${method}">${method.toUpperCase()}</b>`;
}

function paragraphs(text = '') {
  return text === '' ? '' : text.split('\n\n').map((part) => `<p>${inline(part)}</p>`).join('');
}

/** Descriptions mark code as Markdown does, and have no other marks. */
function inline(text) {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function json(value) {
  return codeBlock({ content: `${JSON.stringify(value, null, 2)}\n`, language: 'json' });
}

function table(heads, rows) {
  return `<div class="table" tabindex="0"><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function row(cells) {
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}
