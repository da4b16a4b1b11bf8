/**
 * Writes TypeScript types of the API from its OpenAPI document: node infra/write-api-types.mjs <file.d.ts>
 *
 * The file has three interfaces:
 * `Schemas`, by their names; `Operations`, by method and path, each with its answer; and `paths`, by path and method, each
 * with parameters, body and answers, in the form that generic clients take (`createClient<paths>()` of openapi-fetch).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { apiDocument } from './api-document.mjs';

const [out] = process.argv.slice(2);
if (out === undefined) throw new Error('usage: node infra/write-api-types.mjs <file.d.ts>');
const { paths, components } = await apiDocument('0');

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const operations = Object.entries(paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method] !== undefined).map(
    (method) => `  ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: ${answerOf(item[method])};`,
  ),
);
const schemas = Object.entries(components.schemas).map(([name, schema]) => `  ${property(name)}: ${typeOf(schema)};`);
const text = `/** Made by infra/write-api-types.mjs from the OpenAPI document. */
export interface Schemas {
${schemas.join('\n')}
}

export interface Operations {
${operations.join('\n')}
}

export interface paths {
${Object.entries(paths).map(pathOf).join('\n')}
}
`;
await mkdir(dirname(resolve(out)), { recursive: true });
await writeFile(out, text);

function answerOf({ responses }) {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const json = success?.content?.['application/json'];
  return json === undefined ? 'unknown' : typeOf(json.schema ?? {});
}

function pathOf([path, item]) {
  const methods = [...METHODS, 'head'].filter((method) => item[method] !== undefined);
  return `  ${JSON.stringify(path)}: {\n${methods.map((method) => `    ${method}: ${operationOf(item[method])};`).join('\n')}\n  };`;
}

function operationOf({ parameters, requestBody, responses }) {
  const places = ['query', 'header', 'path'].map((place) => placeOf(place, parameters.filter((one) => one.in === place)));
  const body = requestBody === undefined ? [] : [`requestBody${requestBody.required ? '' : '?'}: ${contentOf(requestBody)}`];
  const answers = Object.entries(responses).map(([status, response]) => `${status}: ${contentOf(response)}`);
  return `{ ${[`parameters: { ${places.join('; ')} }`, ...body, `responses: { ${answers.join('; ')} }`].join('; ')} }`;
}

function placeOf(place, parameters) {
  if (parameters.length === 0) return `${place}?: never`;
  const members = parameters.map(({ name, required, schema }) => `${property(name)}${required ? '' : '?'}: ${typeOf(schema)}`);
  return `${place}${parameters.some(({ required }) => required) ? '' : '?'}: { ${members.join('; ')} }`;
}

function contentOf({ $ref, content = components.responses[$ref?.split('/').pop()]?.content ?? {} }) {
  const types = Object.entries(content).map(([type, { schema }]) => `${JSON.stringify(type)}: ${typeOf(schema)}`);
  return `{ content: { ${types.join('; ')} } }`;
}

function typeOf(schema) {
  if (schema === true || schema === undefined) return 'unknown';
  if (schema.$ref !== undefined) return `Schemas[${JSON.stringify(schema.$ref.split('/').pop())}]`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ') || 'never';
  for (const word of ['oneOf', 'anyOf']) if (schema[word]) return schema[word].map(typeOf).join(' | ');
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part)})`).join(' & ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      // Generic clients know no arrays that are read only.
      return `(${typeOf(schema.items)})[]`;
    case 'object':
      return objectOf(schema);
    default:
      return schema.properties === undefined ? 'unknown' : objectOf(schema);
  }
}

function objectOf({ properties = {}, required = [], additionalProperties }) {
  const members = Object.entries(properties).map(
    ([name, schema]) => `readonly ${property(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  if (members.length > 0) return `{ ${members.join('; ')} }`;
  return `Readonly<Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>>`;
}

function property(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
