/** Example code for each client of an index of vectors, with the published package names. */
import type { Snippet } from '../../parts/snippets.js';

const NPM = '@upstash/vector';
const PYTHON = 'upstash-vector';
/** The prefix of the environment variables that both packages read. */
const ENV = `${PYTHON.replaceAll('-', '_').toUpperCase()}_REST`;

export function snippetsFor(url: string, token: string, namespace: string): readonly Snippet[] {
  const name = namespace === '' ? '' : `/${encodeURIComponent(namespace)}`;
  const ofNamespace = namespace === '' ? '' : `.namespace(${JSON.stringify(namespace)})`;
  return [
    {
      id: 'curl',
      label: 'curl',
      note: 'Every command is a POST of JSON to `<endpoint>/<command>/<namespace>`.',
      text: `curl -H 'Authorization: Bearer ${token}' ${url}/upsert${name} \\
  -d '[{"id":"1","vector":[0.1,0.2,0.3],"metadata":{"year":1977}}]'
curl -H 'Authorization: Bearer ${token}' ${url}/query${name} \\
  -d '{"vector":[0.1,0.2,0.3],"topK":3,"filter":"year > 1950","includeMetadata":true}'`,
    },
    {
      id: 'npm',
      label: NPM,
      note: `npm install ${NPM}`,
      text: `import { Index } from '${NPM}';

const index = new Index({
  url: '${url}',
  token: '${token}',
})${ofNamespace};

await index.upsert({ id: '1', vector: [0.1, 0.2, 0.3], metadata: { year: 1977 } });
console.log(await index.query({ vector: [0.1, 0.2, 0.3], topK: 3, includeMetadata: true }));`,
    },
    {
      id: 'python',
      label: PYTHON,
      note: `pip install ${PYTHON}`,
      text: `from ${PYTHON.replace('-', '_')} import Index

index = Index(url="${url}", token="${token}")

index.upsert(vectors=[("1", [0.1, 0.2, 0.3], {"year": 1977})], namespace=${JSON.stringify(namespace)})
print(index.query(vector=[0.1, 0.2, 0.3], top_k=3, include_metadata=True, namespace=${JSON.stringify(namespace)}))`,
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
