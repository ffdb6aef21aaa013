// Makes a component of JavaScript: node build.mjs COMPONENTIZE-JS SOURCE WIT OUT

import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [tool, sourcePath, witPath, out] = process.argv.slice(2);
const { componentize } = await import(pathToFileURL(tool));
const { component } = await componentize({ sourcePath, witPath, worldName: "app" });
await writeFile(out, component);
