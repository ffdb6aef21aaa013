# Rails in one file: a hello and a list from SQLite, in production's settings, under puma.
# Debian: apt-get install puma ruby-railties ruby-activerecord ruby-actionview ruby-sqlite3
ENV["RAILS_ENV"] = "production"
ENV["DATABASE_URL"] = "sqlite3:#{ENV.fetch("POSTS_DATABASE")}"
require "action_controller/railtie"
require "active_record/railtie"

class Posts < Rails::Application
  config.root = __dir__
  config.load_defaults 6.1
  config.secret_key_base = "x" * 64
  config.logger = Logger.new($stderr)
  config.log_level = :error
  config.public_file_server.enabled = true
  config.paths["public"] = [ENV.fetch("POSTS_FILES")]
  config.cache_classes = true
  config.eager_load = true
  routes.append do
    get "hello", to: "posts#hello"
    get "count", to: "posts#count"
    get "page", to: "posts#page"
    get "empty", to: "posts#empty"
  end
end

class Article < ActiveRecord::Base
  self.table_name = "article"
end

class Blank < ActiveRecord::Base
  self.table_name = "blank"
end

class PostsController < ActionController::Base
  prepend_view_path File.join(__dir__, "views")

  def hello = render(plain: "Hello, world!")

  def count
    @@shared = (defined?(@@shared) ? @@shared : 0) + 1
    local = 0
    local += 1
    render plain: "static #{@@shared}, local #{local}\n"
  end

  def page = list(Article)

  def empty = list(Blank)

  private

  def list(table)
    @articles = table.order(published: :desc).limit(20)
    render :page
  end
end

run Posts.initialize!
