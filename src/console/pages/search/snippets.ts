/** Example code for each client of a search database, with the published package names. */

import type { Snippet } from '../../parts/snippets.js';

const NPM = '@upstash/search';
const PYTHON = 'upstash-search';
/** The prefix of the environment variables that both packages read. */
const ENV = `${PYTHON.replaceAll('-', '_').toUpperCase()}_REST`;

export function snippetsFor(url: string, token: string, index: string): readonly Snippet[] {
  const name = encodeURIComponent(index);
  return [
    {
      id: 'curl',
      label: 'curl',
      note: 'Every command is a POST of JSON to <endpoint>/<command>/<index>.',
      text: `curl -H 'Authorization: Bearer ${token}' ${url}/upsert-data/${name} \\
  -d '[{"id":"1","content":{"title":"Star Wars"},"metadata":{"seen":true}}]'
curl -H 'Authorization: Bearer ${token}' ${url}/search/${name} \\
  -d '{"query":"star wras","topK":3,"includeData":true}'`,
    },
    {
      id: 'npm',
      label: NPM,
      note: `npm install ${NPM}`,
      text: `import { Search } from '${NPM}';

const client = new Search({
  url: '${url}',
  token: '${token}',
});
const index = client.index(${JSON.stringify(index)});

await index.upsert({ id: '1', content: { title: 'Star Wars' }, metadata: { seen: true } });
console.log(await index.search({ query: 'star wras', limit: 3 }));`,
    },
    {
      id: 'python',
      label: PYTHON,
      note: `pip install ${PYTHON}`,
      text: `from ${PYTHON.replace('-', '_')} import Search

client = Search(url="${url}", token="${token}")
index = client.index(${JSON.stringify(index)})

index.upsert(documents=[{"id": "1", "content": {"title": "Star Wars"}}])
print(index.search(query="star wras", limit=3))`,
    },
    {
      id: 'env',
      label: 'Environment',
      note: 'Variables that the published clients read.',
      text: `${ENV}_URL="${url}"
${ENV}_TOKEN="${token}"`,
    },
  ];
}
